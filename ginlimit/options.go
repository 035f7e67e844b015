package ginlimit

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
)

// Option sets how one limiter treats the requests it meets. Later options win.
type Option func(*options)

type options struct {
	skip      func(*gin.Context) bool
	cost      func(*gin.Context) int
	fixed     bool
	fixedCost int
	headers   httplimit.HeaderFunc
	refused   func(*gin.Context, core.Decision)
	refund    func(status int) bool
	trusted   []netip.Prefix
	ipv6Bits  int
}

func newOptions(opts []Option) options {
	o := options{headers: httplimit.XRateLimit, ipv6Bits: httplimit.DefaultIPv6Prefix}
	for i, set := range opts {
		if set == nil {
			panic(fmt.Sprintf("ginlimit: option %d is nil", i+1)) //nolint:forbidigo // wiring fault, at start-up
		}
		set(&o)
	}
	return o
}

// WithSkip does not limit requests for which f is true: health checks,
// metrics. CORS preflights are never limited, that is OPTIONS requests with an
// Origin and an Access-Control-Request-Method: let no handler work for them.
func WithSkip(f func(c *gin.Context) bool) Option {
	return func(o *options) { o.skip = f }
}

// WithCost prices each request by f, known before the first charge: one store
// call, and a Retry-After that counts the whole price. Cost and SetCost win
// over it. Without it a request costs 1. An f below 0 is refused with 500.
func WithCost(f func(c *gin.Context) int) Option {
	return func(o *options) { o.cost = f }
}

// WithFixedCost makes this limiter always charge n units, 0 or more: Cost,
// SetCost, CostKey and WithCost do not touch it. It is for requests a minute
// beside tokens a minute. It panics when n is below 0.
func WithFixedCost(n int) Option {
	if n < 0 {
		panic(fmt.Sprintf("ginlimit: WithFixedCost(%d), must be at least 0", n)) //nolint:forbidigo // wiring fault, at start-up
	}
	return func(o *options) { o.fixed, o.fixedCost = true, n }
}

// WithHeaders writes the caller's quota with f; nil writes nothing. The
// default is [httplimit.XRateLimit].
func WithHeaders(f httplimit.HeaderFunc) Option {
	if f == nil {
		f = httplimit.None
	}
	return func(o *options) { o.headers = f }
}

// WithRefused writes refusals with f, where the default is [httplimit.Refuse].
// The chain is aborted and the headers are set by then, Retry-After among
// them; [httplimit.Status] is the status to answer with.
func WithRefused(f func(c *gin.Context, d core.Decision)) Option {
	return func(o *options) { o.refused = f }
}

// WithRefund gives the cost back when f is true for the status that the
// handlers answered with, 500 when one panicked: func(status int) bool {
// return status >= 500 }. It wins over SetCost.
func WithRefund(f func(status int) bool) Option {
	return func(o *options) { o.refund = f }
}

// WithTrustedProxies believes X-Forwarded-For from these peers when it looks
// for the address of a caller whom identify does not name. The default is
// none: the peer's own address counts.
func WithTrustedProxies(p ...netip.Prefix) Option {
	p = slices.Clone(p)
	return func(o *options) { o.trusted = p }
}

// WithIPv6Prefix says how many bits of an IPv6 address tell one caller from
// another, 1 to 128; the default is 64, and 56 suits customers who are given a
// /56. It panics outside of that.
func WithIPv6Prefix(bits int) Option {
	if bits < 1 || bits > 128 {
		panic(fmt.Sprintf("ginlimit: WithIPv6Prefix(%d), must be 1 to 128", bits)) //nolint:forbidigo // wiring fault, at start-up
	}
	return func(o *options) { o.ipv6Bits = bits }
}
