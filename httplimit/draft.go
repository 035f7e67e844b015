package httplimit

import (
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

const (
	headerDraft       = "Ratelimit"
	headerDraftPolicy = "Ratelimit-Policy"
	// maxInteger is the largest integer of a structured field (RFC 9651 3.3.1).
	maxInteger = 999_999_999_999_999
)

// Draft writes RateLimit-Policy and RateLimit, one item for every window of
// the plan, in the syntax of draft-ietf-httpapi-ratelimit-headers-11, which is
// work in progress:
//
//	RateLimit-Policy: "free";q=10;w=60
//	RateLimit: "free";r=9;t=6
//
// q is the most that fits at once, w the seconds in which it comes back, r
// what is left, and t the seconds until the window is full again, or until a
// refused request fits. A window of a refusal that has room for the request
// has no t, so that none is later than Retry-After. The name is the tier's;
// with several windows it has the window behind it: "pro-1s", "pro-24h". It
// writes nothing where [XRateLimit] writes nothing.
func Draft(h http.Header, d core.Decision) {
	if !tells(&d) {
		return
	}
	var policy, state []byte
	for p := range policies(d) {
		if policy != nil {
			policy, state = append(policy, ", "...), append(state, ", "...)
		}
		policy = appendItem(policy, p.name)
		policy = appendParameter(policy, ";q=", int64(p.limit.Burst))
		policy = appendParameter(policy, ";w=", max(secondsCeil(p.window()), 1))
		state = appendItem(state, p.name)
		state = appendParameter(state, ";r=", int64(p.level.Remaining))
		switch {
		case d.Allowed():
			state = appendParameter(state, ";t=", secondsCeil(p.level.ResetAfter))
		case p.level.RetryAfter > 0:
			state = appendParameter(state, ";t=", max(secondsCeil(p.level.RetryAfter), 1))
		}
	}
	h[headerDraftPolicy] = []string{string(policy)}
	h[headerDraft] = []string{string(state)}
}

// namedPolicy is one window of the plan that judged a request.
type namedPolicy struct {
	name  string
	limit core.Limit
	level core.Level
}

// policies yields the windows of d with a name each.
func policies(d core.Decision) iter.Seq[namedPolicy] {
	return func(yield func(namedPolicy) bool) {
		windows := 0
		for range d.All() {
			windows++
		}
		for limit, level := range d.All() {
			p := namedPolicy{name: d.Tier, limit: limit, level: level}
			if windows > 1 {
				p.name += "-" + windowName(limit)
			}
			if !yield(p) {
				return
			}
		}
	}
}

// windowName tells the windows of one plan apart: 1s, 24h, 1m-fixed.
func windowName(l core.Limit) string {
	name := l.Window.String()
	if strings.HasSuffix(name, "m0s") {
		name = strings.TrimSuffix(name, "0s")
	}
	if strings.HasSuffix(name, "h0m") {
		name = strings.TrimSuffix(name, "0m")
	}
	switch l.Algorithm {
	case core.FixedWindow:
		name += "-fixed"
	case core.SlidingLog:
		name += "-sliding"
	case core.GCRA:
	}
	return name
}

// window is the time in which q comes back: T × burst for GCRA.
func (p namedPolicy) window() time.Duration {
	if p.limit.Algorithm != core.GCRA {
		return p.limit.Window
	}
	return p.limit.Tolerance()
}

// percentEncode makes name fit a structured field's string, which is ASCII
// without control characters (RFC 9651 3.3.3).
func percentEncode(name string) string {
	var b []byte
	for i := range len(name) {
		if c := name[i]; c < 0x20 || c > 0x7e || c == '%' {
			b = append(b, '%', hexDigits[c>>4], hexDigits[c&15])
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}

// appendItem appends name as a structured field's string (RFC 9651 4.1.6).
func appendItem(b []byte, name string) []byte {
	b = append(b, '"')
	for _, c := range []byte(percentEncode(name)) {
		if c == '"' || c == '\\' {
			b = append(b, '\\')
		}
		b = append(b, c)
	}
	return append(b, '"')
}

func appendParameter(b []byte, name string, n int64) []byte {
	return strconv.AppendInt(append(b, name...), min(n, maxInteger), 10)
}
