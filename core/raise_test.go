package core_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

func TestRaiseMakesTheRequestCostThatMuchInAll(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerHour(25)))
	d := r.Take(t.Context(), ana, 1).Raise(t.Context(), 20)
	require.Equal(t, core.Request{Key: core.Key{Tier: "free", ID: "key_ana"}, Limits: core.PerHour(25).Limits(), Cost: 19}, r.store.last(t))
	require.Equal(t, core.Allowed, d.Outcome)
	require.Equal(t, 20, d.Asked)
	require.Equal(t, 20, d.Cost)
	require.Equal(t, 5, d.Level.Remaining)
	require.Equal(t, 2880*sec, d.Level.ResetAfter)

	first := r.Take(t.Context(), ana, 1)
	d = first.Raise(t.Context(), 20)
	require.Equal(t, core.OverQuota, d.Outcome)
	require.Equal(t, 429, d.Status())
	require.Equal(t, 20, d.Asked)
	require.Zero(t, d.Cost)
	require.Equal(t, core.Level{Remaining: 5, ResetAfter: 2880 * sec, RetryAfter: 2160 * sec}, d.Level, "the first unit was given back")
	require.Equal(t, 5, r.left(t, ana))
	require.Equal(t, core.Allowed, first.Outcome, "a Decision is a value")

	r.clock.Advance(2160*sec - us)
	require.False(t, r.Peek(t.Context(), ana, 20).Allowed())
	r.clock.Advance(us)
	require.True(t, r.Take(t.Context(), ana, 20).Allowed(), "who waits as told is let in")
}

func TestRaiseUnderTwoWindows(t *testing.T) {
	t.Parallel()
	for _, q := range []core.Quota{core.PerHour(25).And(core.PerDay(100)), core.PerDay(100).And(core.PerHour(25))} {
		r := newRig(t, only("free", q))
		d := r.Take(t.Context(), ana, 1).Raise(t.Context(), 20)
		require.Equal(t, 25, d.Limit.Count)
		require.Equal(t, 5, d.Level.Remaining)

		d = r.Take(t.Context(), ana, 1).Raise(t.Context(), 20)
		require.Equal(t, core.OverQuota, d.Outcome)
		require.Equal(t, 25, d.Limit.Count)
		require.Equal(t, core.Level{Remaining: 5, ResetAfter: 2880 * sec, RetryAfter: 2160 * sec}, d.Level)
		for l, level := range d.All() {
			if l.Count == 100 {
				require.Equal(t, core.Level{Remaining: 80, ResetAfter: 20 * 864 * sec}, level)
			} else {
				require.Equal(t, d.Level, level)
			}
		}
		require.Equal(t, 5, r.left(t, ana))
	}
}

func TestRaiseToTheSameCostAsksNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerHour(25)))
	d := r.Take(t.Context(), ana, 3)
	require.Equal(t, d, d.Raise(t.Context(), 3))
	free := r.Take(t.Context(), ana, 0)
	require.Equal(t, free, free.Raise(t.Context(), 0))
	require.Equal(t, 2, r.store.calls())
	require.Equal(t, 7, free.Raise(t.Context(), 7).Cost)
	require.Equal(t, 15, r.left(t, ana))
}

func TestRaiseToLessIsSettled(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerHour(25)))
	d := r.Take(t.Context(), ana, 10).Raise(t.Context(), 4)
	require.Equal(t, core.Allowed, d.Outcome)
	require.Equal(t, 4, d.Cost)
	require.Equal(t, 21, d.Level.Remaining)
	require.Equal(t, core.Force, r.store.last(t).Mode)
	require.Equal(t, -6, r.store.last(t).Cost)
	require.False(t, r.store.last(t).Undo)
}

func TestRaiseTwice(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerHour(25)))
	d := r.Take(t.Context(), ana, 1).Raise(t.Context(), 5).Raise(t.Context(), 20)
	require.Equal(t, 20, d.Cost)
	d = d.Raise(t.Context(), 25).Raise(t.Context(), 26)
	require.Equal(t, core.CostExceedsLimit, d.Outcome)
	require.Equal(t, 25, r.left(t, ana))
}

func TestRaiseBeyondTheCapacityIsRefusedForGood(t *testing.T) {
	t.Parallel()
	for _, cost := range []int{26, math.MaxInt} {
		r := newRig(t, only("free", core.PerHour(25).And(core.PerDay(100))))
		d := r.Take(t.Context(), ana, 3).Raise(t.Context(), cost)
		require.Equal(t, core.CostExceedsLimit, d.Outcome)
		require.Equal(t, 403, d.Status())
		require.Equal(t, cost, d.Asked)
		require.Zero(t, d.Cost)
		require.Zero(t, d.Level)
		require.Equal(t, 25, d.Limit.Burst)
		require.Empty(t, remaining(d))
		undo := r.store.last(t)
		require.Equal(t, core.Force, undo.Mode)
		require.Equal(t, -3, undo.Cost)
		require.True(t, undo.Undo)
		require.Equal(t, 2, r.store.calls())
		require.Equal(t, 25, r.left(t, ana))
	}
}

func TestRaiseToAnInvalidCostRefusesAndGivesBack(t *testing.T) {
	t.Parallel()
	for _, cost := range []int{-1, math.MinInt} {
		r := newRig(t, only("free", core.PerHour(25)))
		d := r.Take(t.Context(), ana, 3).Raise(t.Context(), cost)
		require.Equal(t, core.InvalidCost, d.Outcome)
		require.Equal(t, 500, d.Status())
		require.Empty(t, remaining(d))
		require.Equal(t, 25, r.left(t, ana))
	}
}

func TestRefusedRaiseCanBeCorrectedNoMore(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerHour(25)))
	r.Take(t.Context(), ana, 20)
	d := r.Take(t.Context(), ana, 1).Raise(t.Context(), 20)
	calls := r.store.calls()
	require.Equal(t, d, d.Raise(t.Context(), 1))
	require.Equal(t, d, d.Settle(t.Context(), 1))
	require.Equal(t, d, d.Refund(t.Context()))
	require.Equal(t, calls, r.store.calls())
}

func TestRaiseWhileTheStoreFails(t *testing.T) {
	t.Parallel()
	t.Run("let through", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, only("free", core.PerHour(25)))
		d := r.Take(t.Context(), ana, 1)
		r.store.fail = errDown
		d = d.Raise(t.Context(), 5)
		require.Equal(t, core.AllowedOnStorageError, d.Outcome)
		require.True(t, d.Allowed())
		require.Equal(t, 5, d.Asked)
		require.Equal(t, 1, d.Cost, "what is known to be charged")
		require.ErrorIs(t, d.Err, errDown)
		require.Equal(t, 2, r.store.calls())
		r.store.fail = nil
		require.Equal(t, 24, r.left(t, ana))
	})
	t.Run("denied", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, only("free", core.PerHour(25)), core.OnStorageError(core.Deny(503)))
		d := r.Take(t.Context(), ana, 1)
		fails := 1
		r.store.answer = func(context.Context) error { // the raise only
			fails--
			if fails == 0 {
				return errDown
			}
			return nil
		}
		d = d.Raise(t.Context(), 5)
		require.Equal(t, core.StorageFailed, d.Outcome)
		require.Equal(t, 503, d.Status())
		require.Zero(t, d.Cost)
		require.ErrorIs(t, d.Err, errDown)
		require.Empty(t, remaining(d))
		require.Equal(t, -1, r.store.last(t).Cost)
		require.True(t, r.store.last(t).Undo)
		require.Equal(t, 25, r.left(t, ana))
	})
	t.Run("denied, and nothing comes back", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, only("free", core.PerHour(25)), core.OnStorageError(core.Deny(429)))
		d := r.Take(t.Context(), ana, 1)
		r.store.fail = errDown
		d = d.Raise(t.Context(), 5)
		require.Equal(t, 429, d.Status())
		require.ErrorIs(t, d.Err, errDown)
		require.Equal(t, 3, r.store.calls())
	})
	t.Run("the algorithm is not known", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, only("free", core.PerHour(25)))
		d := r.Take(t.Context(), ana, 1)
		r.store.fail = fmt.Errorf("no: %w", core.ErrUnsupported)
		require.Equal(t, core.StorageFailed, d.Raise(t.Context(), 5).Outcome)
	})
	t.Run("the give-back fails", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, only("free", core.PerHour(25)))
		r.Take(t.Context(), ana, 20)
		d := r.Take(t.Context(), ana, 1)
		calls := 0
		r.store.answer = func(context.Context) error { // the give-back only
			calls++
			if calls == 2 {
				return errDown
			}
			return nil
		}
		d = d.Raise(t.Context(), 20)
		require.Equal(t, core.OverQuota, d.Outcome)
		require.Zero(t, d.Cost)
		require.ErrorIs(t, d.Err, errDown)
		require.Equal(t, core.Level{Remaining: 4, ResetAfter: 21 * 144 * sec, RetryAfter: 2160 * sec}, d.Level, "the unit is still there")
	})
}

func TestRaiseAfterTheCallerHungUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerHour(25)))
	d := r.Take(t.Context(), ana, 3)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	d = d.Raise(gone, 20)
	require.Equal(t, core.Canceled, d.Outcome)
	require.Equal(t, 499, d.Status())
	require.ErrorIs(t, d.Err, context.Canceled)
	require.Equal(t, 25, r.left(t, ana), "the give-back ignores that")
}

func TestRaiseUnderAShadowTierNeverRefuses(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerHour(25).Shadow()))
	r.Take(t.Context(), ana, 20)
	d := r.Take(t.Context(), ana, 1).Raise(t.Context(), 10)
	require.True(t, d.Allowed())
	require.Equal(t, 200, d.Status())
	require.True(t, d.Shadowed)
	require.Equal(t, core.OverQuota, d.Outcome)
	require.Zero(t, d.Cost)
	require.Equal(t, 5, r.left(t, ana))

	d = d.Raise(t.Context(), 5) // a Shadowed one counts as allowed
	require.Equal(t, core.Allowed, d.Outcome)
	require.False(t, d.Shadowed)
	require.Equal(t, 5, d.Cost)
	require.Equal(t, 5, d.Refund(t.Context()).Level.Remaining)

	d = r.Take(t.Context(), ana, 1).Raise(t.Context(), 26)
	require.True(t, d.Allowed())
	require.Equal(t, core.CostExceedsLimit, d.Outcome)
	require.Equal(t, 5, r.left(t, ana))
}

func TestRaiseStaysInItsBucketAndUnderItsPlans(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerHour(25)))
	scoped := r.with(t, core.WithScope("reports"))
	d := scoped.Take(t.Context(), core.Identity{Addr: "203.0.113.9"}, 1)
	require.NoError(t, r.SetPlans(only("free", core.PerHour(5))))
	d = d.Raise(t.Context(), 20)
	require.Equal(t, core.Allowed, d.Outcome, "under the plans that it was judged by")
	require.Equal(t, core.Key{Scope: "reports", Tier: "free", ID: "203.0.113.9", Anonymous: true}, r.store.last(t).Key)
	require.Equal(t, 25, r.store.last(t).Limits[0].Count)
}
