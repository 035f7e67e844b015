package denystore_test

import (
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

// TestAFloodCostsTheStoreOneCallASecond: 256 callers of one key at one price.
// Those who are there before the first answer all ask; then it is one a second,
// and one more whenever a unit fits.
func TestAFloodCostsTheStoreOneCallASecond(t *testing.T) {
	t.Parallel()
	for _, quota := range []core.Quota{
		core.PerMinute(10),
		core.PerHour(100).WithBurst(5),
		core.PerMinute(10).Using(core.FixedWindow),
		core.PerMinute(10).Using(core.SlidingLog),
		core.PerSecond(20).And(core.PerHour(12)),
	} {
		const callers = 256
		c := newCached()
		limits := quota.Limits()
		var allowed atomic.Int64
		flood := func() {
			together(callers, func(int) {
				if charge(t, c, limits, 1).Allowed {
					allowed.Add(1)
				}
			})
		}
		require.LessOrEqual(t, c.asks(flood), callers)
		require.Zero(t, c.asks(flood), quota.String())
		require.Zero(t, c.asks(flood), quota.String())
		before := allowed.Load()
		wait := charge(t, c, limits, 1)
		fits := max(wait.Levels[0].RetryAfter, wait.Levels[1].RetryAfter)
		require.Greater(t, fits, 5*time.Second)
		asked := c.asks(func() {
			for range 50 {
				c.clock.Advance(100 * time.Millisecond)
				flood()
			}
		})
		require.LessOrEqual(t, asked, 1+5, quota.String())
		require.GreaterOrEqual(t, asked, 5, "%s: a give-back elsewhere is seen", quota)
		require.Equal(t, before, allowed.Load())
	}
}

// TestAFloodOneByOneCostsTheStoreOneCallASecondAndOneAUnit: with nobody beside
// it, each unit that comes back is allowed once and refused once.
func TestAFloodOneByOneCostsTheStoreOneCallASecondAndOneAUnit(t *testing.T) {
	t.Parallel()
	c := newCached()
	c.exhaust(t, ten)
	allowed := 0
	asked := c.asks(func() {
		for range 60_000 {
			c.clock.Advance(time.Millisecond)
			if charge(t, c, ten, 1).Allowed {
				allowed++
			}
		}
	})
	require.Equal(t, 10, allowed)
	require.LessOrEqual(t, asked, 60+2*allowed)
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
