package core_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

func TestChargedIsTrueForTheSameBucketUnderEqualLimits(t *testing.T) {
	t.Parallel()
	plans := threeTiers()
	plans.Overrides = map[string]core.Quota{"acme": core.PerMinute(99)}
	r := newRig(t, plans)
	d := r.Take(t.Context(), ana, 1)
	require.True(t, r.Charged(d, ana))
	require.True(t, r.Charged(d, core.Identity{Key: ana.Key}), "the default tier")
	require.True(t, r.Charged(d, core.Identity{Key: ana.Key, Tier: "gold"}), "an unknown tier meets the default tier's bucket")
	require.True(t, r.Charged(d, core.Identity{Key: ana.Key, Tier: "free", Addr: "203.0.113.9"}))
	require.True(t, r.with(t, core.OnMissing(core.Deny(401))).Charged(d, ana), "a child shares the bucket")
	require.True(t, r.Charged(r.Take(t.Context(), ana, 0), ana), "also what was free")

	require.False(t, r.Charged(d, core.Identity{Key: "key_eva", Tier: "free"}))
	require.False(t, r.Charged(d, core.Identity{Key: ana.Key, Tier: "anonymous"}), "another tier")
	require.False(t, r.Charged(d, core.Identity{Addr: ana.Key}), "an address is no user")
	require.False(t, r.Charged(d, core.Identity{Key: ana.Key, Tier: "vip"}))
	require.False(t, r.Charged(d, core.Identity{Key: ana.Key, Tier: "banned"}))
	require.False(t, r.with(t, core.WithScope("reports")).Charged(d, ana))
	require.False(t, r.with(t, core.OnUnknownTier(core.Allow)).Charged(d, core.Identity{Key: ana.Key, Tier: "gold"}))
	require.False(t, newRig(t, plans).Charged(d, ana), "another store")

	acme := core.Identity{Key: "acme", Tier: "free"}
	own := r.Take(t.Context(), acme, 1)
	require.True(t, r.Charged(own, acme))

	other, err := core.New(r.store, threeTiers(), core.WithClock(r.clock))
	require.NoError(t, err)
	require.True(t, other.Charged(d, ana), "another limiter on the same store")
	require.False(t, other.Charged(own, acme), "one that knows no deal with this customer")
}

func TestChargedFollowsThePlans(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerSecond(10).And(core.PerDay(100))))
	d := r.Take(t.Context(), ana, 1)
	require.NoError(t, r.SetPlans(only("free", core.PerDay(100).And(core.PerSecond(10)))))
	require.True(t, r.Charged(d, ana), "in whatever order")
	require.NoError(t, r.SetPlans(only("free", core.PerSecond(10).And(core.PerDay(99)))))
	require.False(t, r.Charged(d, ana))
	require.NoError(t, r.SetPlans(only("free", core.PerSecond(10))))
	require.False(t, r.Charged(d, ana))
}

func TestChargedIsFalseForWhatChargedNothing(t *testing.T) {
	t.Parallel()
	plans := threeTiers()
	plans.Tiers["trial"] = core.PerMinute(1).Shadow()
	r := newRig(t, plans)
	require.False(t, r.Charged(r.Peek(t.Context(), ana, 1), ana), "a look")
	d := r.Take(t.Context(), ana, 10)
	refused := r.Take(t.Context(), ana, 1)
	require.False(t, refused.Allowed())
	require.False(t, r.Charged(refused, ana))
	require.False(t, r.Charged(r.Take(t.Context(), ana, 11), ana))
	vip := core.Identity{Key: ana.Key, Tier: "vip"}
	require.False(t, r.Charged(r.Take(t.Context(), vip, 1), vip))
	require.False(t, r.Charged(d.Raise(t.Context(), 11), ana), "refused and given back")

	trial := core.Identity{Key: "key_try", Tier: "trial"}
	r.Take(t.Context(), trial, 1)
	shadowed := r.Take(t.Context(), trial, 1)
	require.True(t, shadowed.Shadowed)
	require.True(t, r.Charged(shadowed, trial), "a shadowed one counts as allowed")

	r.store.fail = errDown
	open := r.Take(t.Context(), ana, 1)
	require.True(t, open.Allowed())
	require.False(t, r.Charged(open, ana), "failed open")
}

// byValue is a decorator that cannot be compared when what it holds cannot.
type byValue struct{ core.Store }

type uncomparable struct {
	core.Store

	_ []int
}

func TestChargedComparesStoresOfAnyType(t *testing.T) {
	t.Parallel()
	clock := core.WithClock(core.SystemClock)
	inner := newStore(core.SystemClock)
	for _, store := range []core.Store{uncomparable{Store: inner}, byValue{uncomparable{Store: inner}}} {
		one, err := core.New(store, threeTiers(), clock)
		require.NoError(t, err)
		two, err := core.New(store, threeTiers(), clock)
		require.NoError(t, err)
		d := one.Take(t.Context(), ana, 1)
		require.True(t, one.Charged(d, ana))
		require.NotPanics(t, func() {
			require.False(t, two.Charged(d, ana), "nobody can tell")
		})
	}
	one, err := core.New(byValue{inner}, threeTiers(), clock)
	require.NoError(t, err)
	two, err := core.New(byValue{inner}, threeTiers(), clock)
	require.NoError(t, err)
	require.True(t, two.Charged(one.Take(t.Context(), ana, 1), ana), "equal values are one store")
}
