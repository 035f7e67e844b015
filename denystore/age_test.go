package denystore_test

import (
	"math"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/denystore"
)

// TestOneAsksAndTheOthersAreStillRefused: at every age, as long as the wait.
func TestOneAsksAndTheOthersAreStillRefused(t *testing.T) {
	t.Parallel()
	c := newCached(denystore.WithMaxAge(time.Second))
	limits := core.PerHour(10).Limits()
	c.exhaust(t, limits)
	c.clock.Advance(time.Second - time.Microsecond)
	require.Zero(t, c.asks(func() { charge(t, c, limits, 1) }))
	for second := range 100 {
		c.clock.Advance(time.Second)
		gate := make(chan struct{})
		c.next.before = func() { <-gate } // it takes its time
		var refused atomic.Int64
		require.Equal(t, 1, c.asks(func() {
			together(32, func(int) {
				if !charge(t, c, limits, 1).Allowed && refused.Add(1) == 31 {
					close(gate) // nobody waited for the one who asks
				}
			})
		}), "second %d", second)
		require.Equal(t, int64(32), refused.Load())
		c.next.before = nil
	}
}

// TestAnAgeWithoutEndIsNoOverflow: whoever is refused waits as told.
func TestAnAgeWithoutEndIsNoOverflow(t *testing.T) {
	t.Parallel()
	for _, age := range []time.Duration{math.MaxInt64, math.MaxInt64 - time.Second} {
		c := newCached(denystore.WithMaxAge(age))
		c.clock.Advance(time.Minute) // since the store was made
		c.exhaust(t, ten)
		require.Zero(t, c.asks(func() {
			for range 5 {
				require.False(t, charge(t, c, ten, 1).Allowed)
				c.clock.Advance(time.Second)
			}
		}))
		c.clock.Advance(time.Second)
		require.True(t, charge(t, c, ten, 1).Allowed)
	}
}

func TestManyWhoHammerAreEachAskedForOnceASecond(t *testing.T) {
	t.Parallel()
	const users = 1000
	c := newCached()
	limits := core.PerHour(1).Limits()
	ask := func() {
		for i := range users {
			take(t, c, core.Request{Key: core.Key{ID: strconv.Itoa(i)}, Limits: limits, Cost: 1})
		}
	}
	ask()
	ask()
	asked := c.asks(func() {
		for range 100 {
			c.clock.Advance(50 * time.Millisecond)
			ask()
		}
	})
	require.LessOrEqual(t, asked, 5*users+users/100, "but for a few who share a place")
}
