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

// TestWhatNobodyAskedAboutForTwoAgesIsBelievedNoLonger: another instance has made
// room long ago, and nobody is refused beside the one who asks.
func TestWhatNobodyAskedAboutForTwoAgesIsBelievedNoLonger(t *testing.T) {
	t.Parallel()
	for _, s := range []struct {
		age     time.Duration
		allowed bool
	}{
		{2*time.Second - time.Microsecond, false},
		{2 * time.Second, true},
		{time.Hour, true},
	} {
		c := newCached()
		c.exhaust(t, day)
		require.NoError(t, c.next.Store.Reset(t.Context(), ana, day))
		c.clock.Advance(s.age)
		c.asking(func() { charge(t, c, day, 1) }, func() {
			require.Equal(t, s.allowed, charge(t, c, day, 1).Allowed, s.age)
		})
		require.True(t, charge(t, c, day, 1).Allowed, s.age)
	}
}

// TestAnyAgeTellsWhatTheStoreWould, also when the clock is set back by a day.
func TestAnyAgeTellsWhatTheStoreWould(t *testing.T) {
	t.Parallel()
	for _, age := range []time.Duration{1, time.Microsecond, time.Second, math.MaxInt64} {
		c := newCached(denystore.WithMaxAge(age))
		c.exhaust(t, ten)
		for step := range 50 {
			c.clock.Advance(1500 * time.Millisecond)
			if step == 40 {
				c.clock.Advance(-24 * time.Hour)
			}
			want := take(t, c.next.Store, core.Request{Key: ana, Limits: ten, Cost: 1, Mode: core.Look})
			got := charge(t, c, ten, 1)
			require.Equal(t, want.Allowed, got.Allowed, "age %v, step %d", age, step)
			if !want.Allowed {
				require.Equal(t, want.Levels, got.Levels, "age %v, step %d", age, step)
			}
		}
	}
}
