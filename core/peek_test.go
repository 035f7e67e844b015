package core_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

func TestPeekChangesNothing(t *testing.T) {
	t.Parallel()
	told := 0
	r := newRig(t, only("free", core.PerMinute(10).And(core.PerDay(100))), core.WithObserver(func(context.Context, core.Event) { told++ }))
	require.Equal(t, []int{10, 100}, remaining(r.Peek(t.Context(), ana, 1)), "nobody has been here")
	r.Take(t.Context(), ana, 3)
	for range 100 {
		d := r.Peek(t.Context(), ana, 1)
		require.Equal(t, core.Allowed, d.Outcome)
		require.Zero(t, d.Cost)
		require.Equal(t, 1, d.Asked)
		require.Equal(t, []int{7, 97}, remaining(d))
		require.Equal(t, core.Look, r.store.last(t).Mode)
	}
	d := r.Peek(t.Context(), ana, 9)
	require.Equal(t, core.OverQuota, d.Outcome)
	require.Equal(t, 12*sec, d.Level.RetryAfter)
	require.Equal(t, core.CostExceedsLimit, r.Peek(t.Context(), ana, 11).Outcome)
	require.Equal(t, 1, told)
	require.Equal(t, 6, r.Take(t.Context(), ana, 1).Level.Remaining)
}

func TestPeekFollowsThePolicies(t *testing.T) {
	t.Parallel()
	r := newRig(t, threeTiers(), core.OnMissing(core.Deny(401)))
	require.Equal(t, 401, r.Peek(t.Context(), core.Identity{}, 1).Status())
	require.Equal(t, core.AllowedUnlimited, r.Peek(t.Context(), core.Identity{Key: "k", Tier: "vip"}, 1).Outcome)
	r.store.fail = errDown
	require.Equal(t, core.AllowedOnStorageError, r.Peek(t.Context(), ana, 1).Outcome)
}

func TestResetForgetsThatIdentityOnly(t *testing.T) {
	t.Parallel()
	for _, q := range []core.Quota{core.PerMinute(10), core.PerMinute(10).And(fixed(10)).And(sliding(10))} {
		r := newRig(t, only("free", q))
		eva := core.Identity{Key: "key_eva", Tier: "free"}
		r.Take(t.Context(), ana, 10)
		r.Take(t.Context(), eva, 10)
		require.NoError(t, r.Reset(t.Context(), ana))
		require.True(t, r.Take(t.Context(), ana, 10).Allowed())
		require.False(t, r.Take(t.Context(), eva, 1).Allowed())
		require.NoError(t, r.Reset(t.Context(), core.Identity{Key: "key_new", Tier: "free"}))
		require.NoError(t, r.Reset(t.Context(), core.Identity{Key: "key_eva", Tier: "gold"}), "an unknown tier is judged as the default")
		require.True(t, r.Take(t.Context(), eva, 1).Allowed())
	}
}

func TestResetUsesTheScopeAndTheAddress(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerMinute(10)))
	scoped := r.with(t, core.WithScope("reports"))
	require.NoError(t, scoped.Reset(t.Context(), ana))
	require.NoError(t, r.Reset(t.Context(), core.Identity{Addr: "203.0.113.9"}))
	require.Equal(t, []core.Key{
		{Scope: "reports", Tier: "free", ID: "key_ana"},
		{Tier: "free", ID: "203.0.113.9", Anonymous: true},
	}, r.store.resets)
}

func TestResetErrors(t *testing.T) {
	t.Parallel()
	r := newRig(t, threeTiers(), core.OnMissing(core.Deny(401)), core.OnUnknownTier(core.Allow))
	require.ErrorContains(t, r.Reset(t.Context(), core.Identity{}), "core: reset: no tier is judged")
	require.ErrorContains(t, r.Reset(t.Context(), core.Identity{Key: "k", Tier: "gold"}), "core: reset: no tier is judged")
	require.NoError(t, r.Reset(t.Context(), core.Identity{Key: "k", Tier: "vip"}))
	require.NoError(t, r.Reset(t.Context(), core.Identity{Key: "k", Tier: "banned"}))
	require.Empty(t, r.store.resets)
	r.store.fail = errDown
	require.ErrorIs(t, r.Reset(t.Context(), ana), errDown)
}

func TestFailRefusesAndTellsObservers(t *testing.T) {
	t.Parallel()
	var events []core.Event
	r := newRig(t, threeTiers(), core.WithObserver(func(_ context.Context, e core.Event) { events = append(events, e) }))
	d := r.Fail(t.Context(), errDown)
	require.Equal(t, core.IdentifyFailed, d.Outcome)
	require.Equal(t, 503, d.Status())
	require.ErrorIs(t, d.Err, errDown)
	require.Equal(t, start, d.At)
	require.Len(t, events, 1)
	require.Equal(t, d.Outcome, events[0].Decision.Outcome)

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	d = r.Fail(gone, errDown)
	require.Equal(t, core.Canceled, d.Outcome)
	require.Equal(t, 499, d.Status())
	require.Len(t, events, 2)

	require.Equal(t, d.Outcome, d.Raise(t.Context(), 5).Outcome)
	require.Equal(t, d.Outcome, d.Refund(t.Context()).Outcome)
	require.False(t, r.Charged(d, ana))
	require.Zero(t, r.store.calls())
}
