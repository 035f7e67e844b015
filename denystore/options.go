package denystore

import (
	"fmt"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// Option sets how a [Store] works. Later options win. An option panics on a
// value that makes no sense, because it is wiring.
type Option func(*options)

type options struct {
	maxAge  time.Duration
	maxKeys int
	clock   core.Clock
}

// WithMaxAge is how long a refusal is answered from memory before one request
// asks again, above 0; the default is 1 s. A give-back by another instance is
// seen up to so much later, by all once the one who asks is answered. A refusal
// that no answer has confirmed for two ages, because nobody came or whoever asked
// hung up, is believed no longer: all who come ask.
func WithMaxAge(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("denystore: WithMaxAge(%v), must be above 0", d)) //nolint:forbidigo // wiring fault, at start-up
	}
	return func(o *options) { o.maxAge = d }
}

// WithMaxKeys bounds how many refusals are kept, 1 or more, rounded up to a
// power of two; the default is 1 << 16, which costs half a MiB and up to 400
// bytes for each refusal kept. Beyond it new ones take the place of old ones.
func WithMaxKeys(n int) Option {
	if n < 1 || n > 1<<28 {
		panic(fmt.Sprintf("denystore: WithMaxKeys(%d), must be 1 to %d", n, 1<<28)) //nolint:forbidigo // wiring fault, at start-up
	}
	return func(o *options) { o.maxKeys = n }
}

// WithClock counts waits down by c, for tests; the default is this machine's
// monotonic clock.
func WithClock(c core.Clock) Option {
	if c == nil {
		panic("denystore: WithClock: the clock is nil") //nolint:forbidigo // wiring fault, at start-up
	}
	return func(o *options) { o.clock = c }
}
