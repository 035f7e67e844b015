package memstore

import (
	"fmt"

	"github.com/tierlimit/tierlimit/core"
)

// DefaultMaxKeys is how many keys a store holds unless [WithMaxKeys] says
// otherwise: about a million, 34 MiB of lone GCRA windows.
const DefaultMaxKeys = 1 << 20

// Option sets how a [Store] works. Later options win.
type Option func(*Store)

// WithClock judges by c. The default is this machine's monotonic clock, so
// that setting the wall clock neither locks anybody out nor lets anybody in. For
// a lone GCRA window a moment after the year 3967 is its end.
func WithClock(c core.Clock) Option {
	if c == nil {
		panic("memstore: WithClock: the clock is nil") //nolint:forbidigo // wiring fault, at start-up
	}
	return func(s *Store) {
		s.clock = c
		if c == core.SystemClock {
			s.clock = nil
		}
	}
}

// WithMaxKeys bounds how many keys are kept, 1 or more; the default is
// [DefaultMaxKeys]. It panics on a bound below 1.
func WithMaxKeys(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("memstore: WithMaxKeys(%d), must be at least 1", n)) //nolint:forbidigo // wiring fault, at start-up
	}
	return func(s *Store) { s.maxKeys = int64(n) }
}
