package redisstore

import (
	"fmt"
	"slices"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// Option sets how a [Store] works. Later options win. An option panics on a
// value that makes no sense, because it is wiring.
type Option func(*options)

type options struct {
	prefix      string
	secret      []byte
	timeout     time.Duration
	maxInFlight int
	failures    int
	cooldown    time.Duration
	onChange    func(State)
	clock       core.Clock
}

func newOptions(opts []Option) *options {
	o := &options{
		prefix:      "trt:",
		timeout:     100 * time.Millisecond,
		maxInFlight: 512,
		failures:    5,
		cooldown:    200 * time.Millisecond,
	}
	for _, set := range opts {
		set(o)
	}
	return o
}

// WithPrefix begins every key, where the default is "trt:". It must hold no
// brace: in a Cluster that would put every key into one slot.
func WithPrefix(prefix string) Option {
	for _, c := range prefix {
		if c == '{' || c == '}' {
			panic(fmt.Sprintf("redisstore: WithPrefix(%q), must hold no brace", prefix)) //nolint:forbidigo // wiring fault, at start-up
		}
	}
	return func(o *options) { o.prefix = prefix }
}

// WithKeySecret names buckets by HMAC-SHA1 of the id under secret, where the
// default is SHA-1: who sees the keys but not the secret cannot find out ids by
// guessing. Another secret is another set of buckets. It panics on an empty one.
func WithKeySecret(secret []byte) Option {
	if len(secret) == 0 {
		panic("redisstore: WithKeySecret: the secret is empty") //nolint:forbidigo // wiring fault, at start-up
	}
	secret = slices.Clone(secret)
	return func(o *options) { o.secret = secret }
}

// WithTimeout bounds how long one check may take, above 0; the default is
// 100 ms, and up to 5 ms are added. A deadline of the caller's that is earlier
// holds too.
func WithTimeout(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("redisstore: WithTimeout(%v), must be above 0", d)) //nolint:forbidigo // wiring fault, at start-up
	}
	return func(o *options) { o.timeout = d }
}

// WithMaxInFlight bounds how many checks may be under way at once, 1 or more;
// further ones fail at once with [ErrBusy]. A check whose caller had less time
// is under way until Redis answers. The default is 512. Keep it below
// the ring of one connection, 1024 by rueidis's default: a full ring waits
// without a deadline.
func WithMaxInFlight(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("redisstore: WithMaxInFlight(%d), must be at least 1", n)) //nolint:forbidigo // wiring fault, at start-up
	}
	return func(o *options) { o.maxInFlight = n }
}

// WithBreaker opens the breaker after so many failures in a row, 1 or more, for
// a cool-down above 0, give or take a quarter. The default is 5 and 200 ms.
// Timeouts and broken connections are failures; a refusal, an error that Redis
// answers and a caller's own deadline are not.
func WithBreaker(failures int, cooldown time.Duration) Option {
	if failures < 1 || cooldown <= 0 {
		panic(fmt.Sprintf("redisstore: WithBreaker(%d, %v), must be at least 1 and above 0", failures, cooldown)) //nolint:forbidigo // wiring fault
	}
	return func(o *options) { o.failures, o.cooldown = failures, cooldown }
}

// WithStateChange tells f when the breaker's state changes; in a Cluster, that
// of the worst range of slots. It is called in the path of a check with no lock
// held, concurrently: be quick. A panic of f goes to slog and no further.
func WithStateChange(f func(State)) Option { return func(o *options) { o.onChange = f } }

// WithClock judges by c where the default is the clock of Redis, for tests. All
// keys then live an hour longer, because Redis expires them by its own clock.
func WithClock(c core.Clock) Option { return func(o *options) { o.clock = c } }
