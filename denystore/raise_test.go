package denystore_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// undo gives one unit back as a refused Raise does.
func undo(tb testing.TB, c cached, limits []core.Limit) {
	tb.Helper()
	take(tb, c, core.Request{Key: ana, Limits: limits, Cost: -1, Mode: core.Force, Undo: true})
}

// TestALessCostlyChargeKeepsTheRefusal, and what stands is told anew.
func TestALessCostlyChargeKeepsTheRefusal(t *testing.T) {
	t.Parallel()
	for _, s := range []struct {
		limits []core.Limit
		asks   int
	}{
		{ten, 0},
		{core.PerMinute(10).Using(core.FixedWindow).Limits(), 0},
		{core.PerMinute(10).And(core.PerHour(10)).Limits(), 0},
		{core.PerHour(11).And(core.PerMinute(10).Using(core.SlidingLog)).Limits(), 1}, // who knows when it fits
	} {
		c := newCached(anHour)
		charge(t, c, s.limits, 7)
		require.False(t, charge(t, c, s.limits, 4).Allowed)
		c.clock.Advance(time.Second)
		require.True(t, charge(t, c, s.limits, 1).Allowed)
		require.Equal(t, s.asks, c.asks(func() {
			got := charge(t, c, s.limits, 4)
			want := take(t, c.next.Store, core.Request{Key: ana, Limits: s.limits, Cost: 4})
			got.Now = want.Now
			require.Equal(t, want, got)
		}), "%v", s.limits)
	}
}

func TestTheGiveBackOfARefusedRaiseKeepsWhatItMakesNoRoomFor(t *testing.T) {
	t.Parallel()
	for _, limits := range [][]core.Limit{ten, core.PerMinute(10).Using(core.FixedWindow).Limits()} {
		c := newCached(anHour)
		charge(t, c, limits, 8)
		require.False(t, charge(t, c, limits, 4).Allowed)
		undo(t, c, limits)
		require.Zero(t, c.asks(func() {
			got := charge(t, c, limits, 4)
			require.False(t, got.Allowed)
			require.Equal(t, 3, got.Levels[0].Remaining)
		}))
		undo(t, c, limits)
		require.True(t, charge(t, c, limits, 4).Allowed)
	}
}

// TestAnUndoBesideAnotherGiveBackForgets: what it tells may be from before.
func TestAnUndoBesideAnotherGiveBackForgets(t *testing.T) {
	t.Parallel()
	c := newCached(anHour)
	c.exhaust(t, ten)
	c.next.after = func() {
		c.next.after = nil
		take(t, c, core.Request{Key: ana, Limits: ten, Cost: -5, Mode: core.Force})
		require.Equal(t, 6, charge(t, c, ten, 7).Levels[0].Remaining)
	}
	undo(t, c, ten)
	c.clock.Advance(6 * time.Second)
	require.True(t, charge(t, c, ten, 7).Allowed)
}

// TestAnUndoThatFailsForgets: nobody knows what stands.
func TestAnUndoThatFailsForgets(t *testing.T) {
	t.Parallel()
	c := newCached()
	c.exhaust(t, ten)
	c.next.fail(errAway)
	_, err := c.Take(t.Context(), core.Request{Key: ana, Limits: ten, Cost: -1, Mode: core.Force, Undo: true})
	require.ErrorIs(t, err, errAway)
	c.next.fail(nil)
	require.Equal(t, 1, c.asks(func() { charge(t, c, ten, 1) }))
}

// limiterOver is a limiter of one quota over a cache.
func limiterOver(t *testing.T, c cached, quota core.Quota) *core.Limiter {
	t.Helper()
	l, err := core.New(c, core.Plans{Tiers: map[string]core.Quota{"free": quota}}, core.WithClock(c.clock))
	require.NoError(t, err)
	return l
}

var id = core.Identity{Key: "ana", Tier: "free"}

// TestAPriceToldBehindTheLimiterCostsItsFirstUnitAndTheGiveBack: with 3 left, a
// report at 5 is refused a hundred times. Told up front it costs one call.
func TestAPriceToldBehindTheLimiterCostsItsFirstUnitAndTheGiveBack(t *testing.T) {
	t.Parallel()
	behind := func(ctx context.Context, l *core.Limiter) core.Decision { return l.Take(ctx, id, 1).Raise(ctx, 5) }
	upFront := func(ctx context.Context, l *core.Limiter) core.Decision { return l.Take(ctx, id, 5) }
	for name, s := range map[string]struct {
		report func(context.Context, *core.Limiter) core.Decision
		asks   int
	}{
		"behind":   {behind, 3 + 99*2},
		"up front": {upFront, 1},
	} {
		c := newCached()
		l := limiterOver(t, c, core.PerMinute(10))
		require.True(t, l.Take(t.Context(), id, 7).Allowed())
		require.Equal(t, s.asks, c.asks(func() {
			for range 100 {
				d := s.report(t.Context(), l)
				require.Equal(t, core.OverQuota, d.Outcome, name)
				require.Equal(t, 12*time.Second, d.Level.RetryAfter, name)
				require.Equal(t, 3, d.Level.Remaining, name)
			}
		}), name)
		require.True(t, l.Take(t.Context(), id, 3).Allowed(), "%s: nothing of it is charged", name)
	}
}

// TestTheGiveBackOfARaiseThatNeverFitsIsSeenAtOnce: it took the last unit, for
// which another was refused, and gives it back.
func TestTheGiveBackOfARaiseThatNeverFitsIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	c := newCached()
	l := limiterOver(t, c, core.PerHour(10))
	require.True(t, l.Take(t.Context(), id, 9).Allowed())
	last := l.Take(t.Context(), id, 1)
	require.Equal(t, core.OverQuota, l.Take(t.Context(), id, 1).Outcome)
	require.Equal(t, core.CostExceedsLimit, last.Raise(t.Context(), 50).Outcome)
	require.Equal(t, core.Allowed, l.Take(t.Context(), id, 1).Outcome)
}

// TestTwoLimitersOnARouteCostAChargeAndARefund: the first charges, the second
// refuses from memory, and the first gives back.
func TestTwoLimitersOnARouteCostAChargeAndARefund(t *testing.T) {
	t.Parallel()
	c := newCached()
	address, plan := limiterOver(t, c, core.PerMinute(600)), limiterOver(t, c, core.PerMinute(10))
	require.True(t, plan.Take(t.Context(), id, 10).Allowed())
	require.Equal(t, 1+2*100, c.asks(func() {
		for range 100 {
			d := address.Take(t.Context(), core.Identity{Key: "192.0.2.1", Tier: "free"}, 1)
			require.False(t, plan.Take(t.Context(), id, 1).Allowed())
			d.Refund(t.Context())
		}
	}))
}

// TestARefusalThatAChargeOvertookIsAskedForAgain: while a refusal is on its way,
// two units are allowed. Memory must not tell of what stood before.
func TestARefusalThatAChargeOvertookIsAskedForAgain(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{false, true} {
		c := newCached(anHour)
		charge(t, c, ten, 7)
		if known {
			require.False(t, charge(t, c, ten, 9).Allowed)
		}
		c.next.after = func() {
			c.next.after = nil
			require.True(t, charge(t, c, ten, 2).Allowed)
		}
		require.Equal(t, 3, charge(t, c, ten, 5).Levels[0].Remaining)
		got := charge(t, c, ten, 5)
		require.Equal(t, 1, got.Levels[0].Remaining, "known: %t", known)
		require.Equal(t, 24*time.Second, got.Levels[0].RetryAfter)
		require.Zero(t, c.asks(func() { charge(t, c, ten, 5) }))
	}
}

// TestALateRefusalDoesNotOverwriteWhatIsNewer: a charge was allowed meanwhile, and
// has told what is left.
func TestALateRefusalDoesNotOverwriteWhatIsNewer(t *testing.T) {
	t.Parallel()
	c := newCached()
	charge(t, c, ten, 7)
	require.False(t, charge(t, c, ten, 5).Allowed)
	c.clock.Advance(time.Second) // it is of age
	c.next.after = func() {
		c.next.after = nil
		require.True(t, charge(t, c, ten, 2).Allowed)
	}
	charge(t, c, ten, 5)
	require.Zero(t, c.asks(func() {
		got := charge(t, c, ten, 5)
		require.Equal(t, core.Level{Remaining: 1, ResetAfter: 53 * time.Second, RetryAfter: 23 * time.Second}, got.Levels[0])
	}))
}
