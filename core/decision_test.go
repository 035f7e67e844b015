package core_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

func TestEveryOutcomeHasALabelAndAStatus(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		outcome core.Outcome
		label   string
		status  int
	}{
		{core.OverQuota, "over_quota", 429},
		{core.Missing, "missing", 403},
		{core.UnknownTier, "unknown_tier", 403},
		{core.CostExceedsLimit, "cost_exceeds_limit", 403},
		{core.TierBlocked, "tier_blocked", 403},
		{core.StorageFailed, "storage_failed", 503},
		{core.IdentifyFailed, "identify_failed", 503},
		{core.InvalidCost, "invalid_cost", 500},
		{core.Canceled, "canceled", 499},
		{core.Allowed, "allowed", 200},
		{core.AllowedUnlimited, "allowed_unlimited", 200},
		{core.AllowedMissing, "allowed_missing", 200},
		{core.AllowedUnknownTier, "allowed_unknown_tier", 200},
		{core.AllowedOnStorageError, "allowed_on_storage_error", 200},
	} {
		require.Equal(t, core.Outcome(i), c.outcome)
		d := core.Decision{Outcome: c.outcome}
		require.Equal(t, c.label, c.outcome.String())
		require.Equal(t, c.status, d.Status(), c.label)
		require.Equal(t, c.status == 200, d.Allowed(), c.label)
		d.Shadowed = true
		require.True(t, d.Allowed(), c.label)
		require.Equal(t, 200, d.Status(), c.label)
	}
	for _, o := range []core.Outcome{14, 255} {
		d := core.Decision{Outcome: o}
		require.Equal(t, "unknown", o.String())
		require.False(t, d.Allowed(), "what nobody knows is refused")
		require.Equal(t, 503, d.Status())
	}
}

func TestZeroDecisionRefuses(t *testing.T) {
	t.Parallel()
	var d core.Decision
	require.False(t, d.Allowed())
	require.Equal(t, 429, d.Status())
	require.False(t, d.Enforced())
	require.Empty(t, remaining(d))
	require.Equal(t, d, d.Raise(t.Context(), 5))
	require.Equal(t, d, d.Settle(t.Context(), 5))
	require.Equal(t, d, d.Refund(t.Context()))
	r := newRig(t, threeTiers())
	require.False(t, r.Charged(d, ana))
}

func TestAllYieldsEveryWindowInTheOrderOfTheQuota(t *testing.T) {
	t.Parallel()
	q := core.PerSecond(10).And(core.PerDay(1000)).And(fixed(100))
	r := newRig(t, only("free", q))
	d := r.Take(t.Context(), ana, 4)
	for range 2 { // again and again
		var limits []core.Limit
		for l := range d.All() {
			limits = append(limits, l)
		}
		require.Equal(t, q.Limits(), limits)
		require.Equal(t, []int{6, 996, 96}, remaining(d))
	}
	for l := range d.All() {
		require.Equal(t, q.Limits()[0], l)
		break
	}
	r.Take(t.Context(), ana, 1)
	require.Equal(t, []int{6, 996, 96}, remaining(d), "a Decision is a value")

	single := newRig(t, only("free", core.PerMinute(10)))
	require.Equal(t, []int{9}, remaining(single.Take(t.Context(), ana, 1)))
	require.Equal(t, []int{9}, remaining(single.Take(t.Context(), ana, 10)), "a refusal's windows as well")
}

func TestBindingWindowIsTheLeastLeftOrTheLongestWait(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerDay(12).And(core.PerSecond(10))))
	d := r.Take(t.Context(), ana, 1)
	require.Equal(t, 10, d.Limit.Count)
	require.Equal(t, 9, d.Level.Remaining)
	d = r.Take(t.Context(), ana, 9)
	require.Equal(t, 10, d.Limit.Count)
	require.Zero(t, d.Level.Remaining)

	d = r.Take(t.Context(), ana, 1) // two are left of the day
	require.Equal(t, 10, d.Limit.Count)
	require.Equal(t, 100*ms, d.Level.RetryAfter)
	d = r.Take(t.Context(), ana, 3) // both refuse, the day for longer
	require.Equal(t, 12, d.Limit.Count)
	require.Equal(t, 2*hour, d.Level.RetryAfter)
	require.Equal(t, 2, d.Level.Remaining)

	r.clock.Advance(sec)
	d = r.Take(t.Context(), ana, 2)
	require.Equal(t, 12, d.Limit.Count)
	require.Zero(t, d.Level.Remaining)
}

func TestEarlierOfTwoEqualWindowsBinds(t *testing.T) {
	t.Parallel()
	for _, q := range []core.Quota{core.PerHour(10).And(core.PerDay(240).WithBurst(10)), core.PerDay(240).WithBurst(10).And(core.PerHour(10))} {
		r := newRig(t, only("free", q))
		require.Equal(t, q.Limits()[0], r.Take(t.Context(), ana, 10).Limit)
		d := r.Take(t.Context(), ana, 1)
		require.Equal(t, core.OverQuota, d.Outcome)
		require.Equal(t, q.Limits()[0], d.Limit)
		require.Equal(t, q.Limits()[0], r.Take(t.Context(), ana, 11).Limit, "also for what fits neither")
	}
}

func TestEnforcedIsFalseForAShadow(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerMinute(10)))
	require.True(t, r.Take(t.Context(), ana, 1).Enforced())
	require.NoError(t, r.SetPlans(only("free", core.PerMinute(10).Shadow())))
	require.False(t, r.Take(t.Context(), ana, 1).Enforced())
}
