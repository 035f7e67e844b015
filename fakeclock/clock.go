package fakeclock

import (
	"sync"
	"time"
)

// Clock is a clock that stands still until it is moved. It is safe for
// concurrent use and must not be copied. The zero Clock stands at the zero
// time.
type Clock struct {
	mu  sync.RWMutex
	now time.Time
}

// New returns a clock that stands at start.
func New(start time.Time) *Clock {
	return &Clock{now: start.Round(0)} // a monotonic reading would outlive Set
}

// Now is where the clock stands.
func (c *Clock) Now() time.Time {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.now
}

// Advance moves the clock by d: 6 * time.Second into the future, or back when
// d is below 0.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Set puts the clock to t, which may lie in the past.
func (c *Clock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t.Round(0)
}
