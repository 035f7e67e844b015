package denystore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/denystore"
)

// TestWhatIsAnsweredFromMemory: after a refused charge of 3 with 2 left, the
// same or a dearer one under the same limits, and nothing else.
func TestWhatIsAnsweredFromMemory(t *testing.T) {
	t.Parallel()
	reordered := core.PerSecond(20).And(core.PerMinute(10)).Limits()
	for _, c := range []struct {
		name    string
		limits  []core.Limit
		request core.Request
		asks    int
	}{
		{"the same", ten, core.Request{Key: ana, Limits: ten, Cost: 3}, 0},
		{"dearer", ten, core.Request{Key: ana, Limits: ten, Cost: 10}, 0},
		{"limits that are equal", ten, core.Request{Key: ana, Limits: core.PerMinute(10).Limits(), Cost: 3}, 0},
		{"cheaper", ten, core.Request{Key: ana, Limits: ten, Cost: 2}, 1},
		{"free", ten, core.Request{Key: ana, Limits: ten, Cost: 0}, 1},
		{"dearer than a bucket", ten, core.Request{Key: ana, Limits: ten, Cost: 11}, 1},
		{"a look", ten, core.Request{Key: ana, Limits: ten, Cost: 3, Mode: core.Look}, 1},
		{"forced", ten, core.Request{Key: ana, Limits: ten, Cost: 3, Mode: core.Force}, 1},
		{"a give-back", ten, core.Request{Key: ana, Limits: ten, Cost: -3, Mode: core.Force}, 1},
		{"of a degraded charge", ten, core.Request{Key: ana, Limits: ten, Cost: 3, Degraded: true}, 1},
		{"another count", ten, core.Request{Key: ana, Limits: core.PerMinute(9).Limits(), Cost: 3}, 1},
		{"another burst", ten, core.Request{Key: ana, Limits: core.PerMinute(10).WithBurst(9).Limits(), Cost: 3}, 1},
		{"another window", ten, core.Request{Key: ana, Limits: core.PerSecond(10).Limits(), Cost: 3}, 1},
		{"another algorithm", ten, core.Request{Key: ana, Limits: core.PerMinute(10).Using(core.FixedWindow).Limits(), Cost: 3}, 1},
		{"one window more", ten, core.Request{Key: ana, Limits: core.PerMinute(10).And(core.PerDay(100)).Limits(), Cost: 3}, 1},
		{"another order", core.PerMinute(10).And(core.PerSecond(20)).Limits(), core.Request{Key: ana, Limits: reordered, Cost: 3}, 1},
		{"another id", ten, core.Request{Key: core.Key{Tier: "free", ID: "bea"}, Limits: ten, Cost: 3}, 1},
		{"another tier", ten, core.Request{Key: core.Key{Tier: "pro", ID: "ana"}, Limits: ten, Cost: 3}, 1},
		{"a scope", ten, core.Request{Key: core.Key{Scope: "free", Tier: "free", ID: "ana"}, Limits: ten, Cost: 3}, 1},
		{"an address", ten, core.Request{Key: core.Key{Tier: "free", ID: "ana", Anonymous: true}, Limits: ten, Cost: 3}, 1},
		{
			"dearer, of a log", core.PerMinute(10).Using(core.SlidingLog).Limits(),
			core.Request{Key: ana, Limits: core.PerMinute(10).Using(core.SlidingLog).Limits(), Cost: 4},
			1,
		},
	} {
		c0 := newCached()
		charge(t, c0, c.limits, 8)
		require.False(t, charge(t, c0, c.limits, 3).Allowed)
		require.Equal(t, c.asks, c0.asks(func() { take(t, c0, c.request) }), c.name)
	}
}

// TestTheWaitIsCountedDownExactly: whatever is answered from memory is what the
// store would have said, number for number, until the cost fits.
func TestTheWaitIsCountedDownExactly(t *testing.T) {
	t.Parallel()
	for _, quota := range []core.Quota{
		core.PerMinute(10),
		core.PerSecond(20).WithBurst(40),
		core.PerSecond(3).WithBurst(7), // 333,334 µs a unit
		core.PerMinute(10).Using(core.FixedWindow),
		core.PerSecond(20).And(core.PerDay(50)),
		core.PerMinute(10).And(core.PerHour(60)).And(core.PerDay(100).Using(core.FixedWindow)),
		core.PerMinute(10).Using(core.SlidingLog),
		core.PerSecond(20).And(core.PerMinute(30).Using(core.SlidingLog)),
	} {
		limits := quota.Limits()
		for _, cost := range []int{1, 3, 7} {
			if cost > 1 && limits[len(limits)-1].Algorithm == core.SlidingLog {
				continue // it is asked for
			}
			c := newCached(denystore.WithMaxAge(48 * time.Hour))
			for range 5 { // entries of a log at several times
				take(t, c, core.Request{Key: ana, Limits: limits, Cost: 7, Mode: core.Force})
				c.clock.Advance(17 * time.Millisecond)
			}
			wait := c.exhaust(t, limits)
			var fits time.Duration
			for _, l := range wait.Levels {
				fits = max(fits, l.RetryAfter)
			}
			asked := c.next.calls.Load()
			for range 50 {
				got := charge(t, c, limits, cost)
				want := take(t, c.next.Store, core.Request{Key: ana, Limits: limits, Cost: cost})
				require.False(t, got.Allowed)
				require.Zero(t, got.Charged)
				require.True(t, got.Now.IsZero())
				got.Now = want.Now
				for i, l := range limits {
					if l.Algorithm == core.SlidingLog {
						got.Levels[i].Remaining = want.Levels[i].Remaining // it is not counted up
					}
				}
				require.Equal(t, want, got, "%s, cost %d", quota, cost)
				c.clock.Advance(fits / 50)
			}
			require.Equal(t, asked, c.next.calls.Load(), "%s, cost %d: all from memory", quota, cost)
			c.clock.Advance(fits % 50) // by now it fits
			require.Equal(t, 1, c.asks(func() {
				require.True(t, charge(t, c, limits, 1).Allowed, quota.String())
			}))
		}
	}
}

func TestARefusalIsGoodUntilItsRetryAndNotAMicrosecondLonger(t *testing.T) {
	t.Parallel()
	c := newCached(denystore.WithMaxAge(time.Hour))
	c.exhaust(t, ten)
	c.clock.Advance(6*time.Second - time.Microsecond)
	require.Zero(t, c.asks(func() {
		require.Equal(t, time.Microsecond, charge(t, c, ten, 1).Levels[0].RetryAfter)
	}))
	c.clock.Advance(time.Microsecond)
	require.True(t, charge(t, c, ten, 1).Allowed)
}

// TestASlowAnswerIsNotGoodForLonger: the store judged somewhere between the
// question and the answer, so the refusal ends as if by the question, and the
// wait that is told begins with the answer.
func TestASlowAnswerIsNotGoodForLonger(t *testing.T) {
	t.Parallel()
	c := newCached(denystore.WithMaxAge(time.Hour))
	take(t, c, core.Request{Key: ana, Limits: ten, Cost: 10, Mode: core.Force})
	c.next.after = func() { c.clock.Advance(90 * time.Millisecond) }
	require.Equal(t, 6*time.Second, charge(t, c, ten, 1).Levels[0].RetryAfter)
	c.next.after = nil
	require.Zero(t, c.asks(func() {
		require.Equal(t, 6*time.Second, charge(t, c, ten, 1).Levels[0].RetryAfter, "nobody is told less than the store said")
	}))
	c.clock.Advance(6*time.Second - 90*time.Millisecond)
	require.True(t, charge(t, c, ten, 1).Allowed, "the store would allow it")
}

func TestAClockThatGoesBackHasTheStoreAsked(t *testing.T) {
	t.Parallel()
	c := newCached()
	c.exhaust(t, ten)
	for _, back := range []time.Duration{time.Microsecond, time.Second, 24 * time.Hour} {
		c.clock.Advance(-back)
		require.Equal(t, 1, c.asks(func() { charge(t, c, ten, 1) }))
		require.Zero(t, c.asks(func() { require.False(t, charge(t, c, ten, 1).Allowed) }), "and it remembers by the new time")
	}
	c.clock.Advance(time.Minute)
	require.True(t, charge(t, c, ten, 1).Allowed)
}

func TestACheaperRefusalCoversDearerOnes(t *testing.T) {
	t.Parallel()
	c := newCached()
	charge(t, c, ten, 8)
	require.Equal(t, 1, c.asks(func() { charge(t, c, ten, 5) }))
	require.Equal(t, 1, c.asks(func() { charge(t, c, ten, 3) }))
	require.Zero(t, c.asks(func() {
		require.Equal(t, 18*time.Second, charge(t, c, ten, 5).Levels[0].RetryAfter)
		require.Equal(t, 6*time.Second, charge(t, c, ten, 3).Levels[0].RetryAfter)
	}))
}
