package core_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
)

func TestSettleChargesWhatFits(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerHour(25)))
	d := r.Take(t.Context(), ana, 1).Settle(t.Context(), 20)
	require.Equal(t, core.Request{Key: core.Key{Tier: "free", ID: "key_ana"}, Limits: core.PerHour(25).Limits(), Cost: 19, Mode: core.Force}, r.store.last(t))
	require.Equal(t, core.Allowed, d.Outcome)
	require.Equal(t, 20, d.Asked)
	require.Equal(t, 20, d.Cost)
	require.Equal(t, 5, d.Level.Remaining)

	for _, cost := range []int{20, 1000, math.MaxInt} { // beyond what is left and beyond the capacity
		d = r.Take(t.Context(), ana, 1).Settle(t.Context(), cost)
		require.Equal(t, core.Allowed, d.Outcome, "never a refusal")
		require.Equal(t, cost, d.Asked)
		require.Equal(t, 5, d.Cost, "what was really charged")
		require.Zero(t, d.Level.Remaining)
		d = d.Refund(t.Context())
		require.Zero(t, d.Cost)
		require.Equal(t, 5, d.Level.Remaining, "no more than that comes back")
	}
}

func TestSettleUnderSeveralWindowsCountsWhatEachTook(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerHour(25).And(fixed(10))))
	d := r.Take(t.Context(), ana, 1).Settle(t.Context(), 20)
	require.Equal(t, 10, d.Cost)
	require.Equal(t, []int{5, 0}, remaining(d))
	require.Equal(t, 10, d.Limit.Count)
	d = d.Refund(t.Context())
	require.Equal(t, []int{15, 10}, remaining(d), "the hour keeps what it alone had charged")
}

func TestSettleForLessGivesBack(t *testing.T) {
	t.Parallel()
	for _, q := range []core.Quota{core.PerHour(25), core.PerHour(25).Using(core.FixedWindow), core.PerHour(25).Using(core.SlidingLog)} {
		r := newRig(t, only("free", q))
		d := r.Take(t.Context(), ana, 20).Settle(t.Context(), 7)
		require.Equal(t, core.Force, r.store.last(t).Mode)
		require.Equal(t, -13, r.store.last(t).Cost)
		require.False(t, r.store.last(t).Undo)
		require.Equal(t, 7, d.Cost)
		require.Equal(t, 18, d.Level.Remaining)
		require.Equal(t, 25, d.Refund(t.Context()).Level.Remaining)
	}
}

func TestRefundTwiceGivesBackOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerHour(25)))
	r.Take(t.Context(), ana, 10)
	d := r.Take(t.Context(), ana, 5).Refund(t.Context())
	require.Zero(t, d.Cost)
	require.Zero(t, d.Asked)
	require.Equal(t, core.Allowed, d.Outcome)
	calls := r.store.calls()
	require.Equal(t, d, d.Refund(t.Context()))
	require.Equal(t, calls, r.store.calls())
	require.Equal(t, 15, r.left(t, ana))
	require.Equal(t, 3, d.Settle(t.Context(), 3).Cost, "it may yet be charged")
	require.Equal(t, 12, r.left(t, ana))
}

func TestRefundFreesAnEmptyBucket(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerHour(5)))
	d := r.Take(t.Context(), ana, 5)
	require.False(t, r.Take(t.Context(), ana, 1).Allowed())
	d.Settle(t.Context(), 4)
	require.True(t, r.Take(t.Context(), ana, 1).Allowed())
	require.False(t, r.Take(t.Context(), ana, 1).Allowed())
}

func TestSettleForTheSameOrAnInvalidCostAsksNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerHour(25)))
	d := r.Take(t.Context(), ana, 3)
	require.Equal(t, d, d.Settle(t.Context(), 3))
	require.Equal(t, d, d.Settle(t.Context(), -1))
	require.Equal(t, d, d.Settle(t.Context(), math.MinInt))
	require.Equal(t, 1, r.store.calls())
}

func TestGiveBackLaterThanTheShortestWindowIsDropped(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerHour(25).And(fixed(30))))
	d := r.Take(t.Context(), ana, 5)
	r.clock.Advance(minute)
	d.Refund(t.Context())
	require.Equal(t, -5, r.store.last(t).Cost, "just in time")
	r.clock.Advance(1000 * hour) // the limiter's own age does not count
	d = r.Take(t.Context(), ana, 5)
	r.clock.Advance(minute)
	d.Refund(t.Context())
	require.Equal(t, -5, r.store.last(t).Cost, "just in time")

	d = r.Take(t.Context(), ana, 5)
	calls := r.store.calls()
	r.clock.Advance(minute + us)
	late := d.Refund(t.Context())
	require.Zero(t, late.Cost)
	require.Equal(t, core.Allowed, late.Outcome)
	require.Equal(t, calls, r.store.calls())
	late = d.Settle(t.Context(), 2)
	require.Equal(t, 2, late.Cost)
	require.Equal(t, calls, r.store.calls())
	require.Equal(t, 7, d.Settle(t.Context(), 7).Cost, "a charge is never too late")
	require.Equal(t, calls+1, r.store.calls())
	refused := d.Raise(t.Context(), 25)
	require.Equal(t, core.OverQuota, refused.Outcome)
	require.NotEqual(t, core.Force, r.store.last(t).Mode, "nor does a refused Raise give back what time has")
}

func TestAgeOfAGiveBackIsByTheLimitersOwnClock(t *testing.T) {
	t.Parallel()
	own := fakeclock.New(start)
	stores := fakeclock.New(start.Add(-1000 * hour))
	store := newStore(stores)
	l, err := core.New(store, only("free", core.PerHour(25)), core.WithClock(own))
	require.NoError(t, err)
	d := l.Take(t.Context(), ana, 5)
	require.Equal(t, stores.Now(), d.At)
	require.Equal(t, 25, d.Refund(t.Context()).Level.Remaining, "the store's clock is far behind")

	d = l.Take(t.Context(), ana, 5)
	stores.Advance(5000 * hour) // the store's clock was set
	d.Refund(t.Context())
	require.Equal(t, -5, store.last(t).Cost)

	d = l.Take(t.Context(), ana, 5)
	d.At = time.Time{}
	own.Advance(hour + us)
	d.Refund(t.Context())
	require.Equal(t, 5, store.last(t).Cost, "it is too late")
}

func TestAgeOfAGiveBackIsNotByTheClockOfAStoreFarAway(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{-1000 * hour, 1000 * hour} {
		stores := fakeclock.New(time.Now().Add(off)) // without a monotonic reading, as from another machine
		store := newStore(stores)
		l, err := core.New(store, only("free", core.PerHour(25)))
		require.NoError(t, err)
		d := l.Take(t.Context(), ana, 5)
		stores.Advance(100 * hour)
		d.Refund(t.Context())
		require.Equal(t, -5, store.last(t).Cost, off)
	}
}

func TestSettleIgnoresThatTheCallerHungUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerHour(25)))
	type mark struct{}
	gone, cancel := context.WithCancel(context.WithValue(t.Context(), mark{}, "kept"))
	d := r.Take(gone, ana, 1)
	cancel()
	r.store.answer = func(ctx context.Context) error {
		if ctx.Value(mark{}) != "kept" {
			return errDown
		}
		return ctx.Err()
	}
	d = d.Settle(gone, 5)
	require.NoError(t, d.Err)
	require.Equal(t, 5, d.Cost)
	d = d.Refund(gone)
	require.NoError(t, d.Err)
	require.Equal(t, 25, d.Level.Remaining)
}

func TestSettleWhileTheStoreFails(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerHour(25)))
	d := r.Take(t.Context(), ana, 3)
	r.store.fail = errDown
	more := d.Settle(t.Context(), 9)
	require.Equal(t, core.Allowed, more.Outcome)
	require.ErrorIs(t, more.Err, errDown)
	require.Equal(t, 3, more.Cost, "what is known to be charged")
	less := d.Refund(t.Context())
	require.Equal(t, core.Allowed, less.Outcome)
	require.ErrorIs(t, less.Err, errDown)
	require.Zero(t, less.Cost, "it may have come back, so it does not come back again")
	r.store.fail = nil
	require.Equal(t, 22, r.left(t, ana))
}

func TestDegradedChargeIsCorrectedWhereItWasMade(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerHour(25)))
	r.store.degraded = true
	d := r.Take(t.Context(), ana, 1)
	require.False(t, r.store.last(t).Degraded)
	require.True(t, d.Degraded)
	d = d.Raise(t.Context(), 5)
	require.True(t, r.store.last(t).Degraded)
	d = d.Settle(t.Context(), 7)
	require.True(t, r.store.last(t).Degraded)
	d.Refund(t.Context())
	require.True(t, r.store.last(t).Degraded)
	require.False(t, r.store.last(t).Undo)

	d = r.Take(t.Context(), ana, 20)
	require.Equal(t, core.OverQuota, r.Take(t.Context(), ana, 1).Raise(t.Context(), 25).Outcome)
	require.True(t, r.store.last(t).Degraded)
	require.True(t, r.store.last(t).Undo)
	require.True(t, d.Degraded)

	r.store.degraded = false
	r.Take(t.Context(), ana, 1).Settle(t.Context(), 2)
	require.False(t, r.store.last(t).Degraded)
}

func TestDecisionThatChargedNothingChangesNothing(t *testing.T) {
	t.Parallel()
	plans := threeTiers()
	r := newRig(t, plans, core.OnMissing(core.Allow), core.OnUnknownTier(core.Deny(403)))
	r.Take(t.Context(), core.Identity{Key: "key_full", Tier: "free"}, 10)
	decisions := map[string]core.Decision{
		"refused":      r.Take(t.Context(), core.Identity{Key: "key_full", Tier: "free"}, 1),
		"peeked":       r.Peek(t.Context(), ana, 3),
		"unlimited":    r.Take(t.Context(), core.Identity{Key: "k", Tier: "vip"}, 1),
		"blocked":      r.Take(t.Context(), core.Identity{Key: "k", Tier: "banned"}, 1),
		"missing":      r.Take(t.Context(), core.Identity{}, 1),
		"unknown tier": r.Take(t.Context(), core.Identity{Key: "k", Tier: "gold"}, 1),
		"too dear":     r.Take(t.Context(), ana, 11),
		"invalid":      r.Take(t.Context(), ana, -1),
	}
	r.store.fail = errDown
	decisions["failed open"] = r.Take(t.Context(), ana, 1)
	r.store.fail = nil
	calls := r.store.calls()
	for name, d := range decisions {
		require.Equal(t, d, d.Raise(t.Context(), 5), name)
		require.Equal(t, d, d.Raise(t.Context(), 1000), name)
		require.Equal(t, d, d.Raise(t.Context(), -1), name)
		require.Equal(t, d, d.Settle(t.Context(), 5), name)
		require.Equal(t, d, d.Refund(t.Context()), name)
	}
	require.Equal(t, calls, r.store.calls())
}

func TestShadowedDecisionIsSettledAsAnAllowedOne(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerHour(5).Shadow()))
	first := r.Take(t.Context(), ana, 5)
	d := r.Take(t.Context(), ana, 1)
	require.True(t, d.Shadowed)
	require.Zero(t, d.Cost)
	first.Settle(t.Context(), 2)
	d = d.Settle(t.Context(), 2)
	require.Equal(t, 2, d.Cost)
	require.True(t, d.Allowed())
	require.Equal(t, 1, r.left(t, ana))
	d.Refund(t.Context())
	require.Equal(t, 3, r.left(t, ana))
}
