package denystore

import (
	"math"
	"time"
)

// now is the time since the store was made, in whole microseconds as stores
// count.
func (s *Store) now() time.Duration {
	if s.clock == nil {
		return time.Since(s.base).Truncate(time.Microsecond)
	}
	return s.time().Sub(s.base)
}

func (s *Store) time() time.Time {
	if s.clock == nil {
		return time.Now()
	}
	return s.clock.Now().Truncate(time.Microsecond)
}

// plus is a moment some time later, and the end of time at most.
func plus(at, d time.Duration) time.Duration {
	if d > 0 && at > math.MaxInt64-d {
		return math.MaxInt64
	}
	return at + d
}
