package core_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// threeTiers has a default, and tiers that policies may name.
func threeTiers() core.Plans {
	return core.Plans{
		Tiers: map[string]core.Quota{
			"free":      core.PerMinute(10),
			"anonymous": core.PerMinute(3),
			"vip":       core.Unlimited(),
			"banned":    core.Blocked(),
		},
		Default: "free",
	}
}

func withoutDefault() core.Plans {
	p := threeTiers()
	p.Default = ""
	return p
}

func TestPolicyTable(t *testing.T) {
	t.Parallel()
	nobody := core.Identity{Addr: "203.0.113.9"}
	unknown := core.Identity{Key: "key_eva", Tier: "gold", Addr: "203.0.113.9"}
	untiered := core.Identity{Key: "key_eva"}
	byAddr := core.Key{Tier: "free", ID: "203.0.113.9", Anonymous: true}
	for _, c := range []struct {
		name    string
		plans   core.Plans
		opts    []core.Option
		id      core.Identity
		outcome core.Outcome
		status  int
		tier    string
		key     core.Key // of the bucket asked; zero: the store is not asked
	}{
		{"nobody, by default", threeTiers(), nil, nobody, core.Allowed, 200, "free", byAddr},
		{
			"nobody, own tier", threeTiers(),
			[]core.Option{core.OnMissing(core.UseTier("anonymous"))},
			nobody, core.Allowed, 200, "anonymous",
			core.Key{Tier: "anonymous", ID: "203.0.113.9", Anonymous: true},
		},
		{"nobody, unlimited tier", threeTiers(), []core.Option{core.OnMissing(core.UseTier("vip"))}, nobody, core.AllowedUnlimited, 200, "vip", core.Key{}},
		{"nobody, blocked tier", threeTiers(), []core.Option{core.OnMissing(core.UseTier("banned"))}, nobody, core.TierBlocked, 403, "banned", core.Key{}},
		{"nobody, denied", threeTiers(), []core.Option{core.OnMissing(core.Deny(401))}, nobody, core.Missing, 401, "", core.Key{}},
		{"nobody, let through", threeTiers(), []core.Option{core.OnMissing(core.Allow)}, nobody, core.AllowedMissing, 200, "", core.Key{}},
		{"nobody, no default", withoutDefault(), nil, nobody, core.Missing, 403, "", core.Key{}},
		{"nobody, and no address", threeTiers(), nil, core.Identity{}, core.Allowed, 200, "free", core.Key{Tier: "free", Anonymous: true}},
		{"nobody with a tier", threeTiers(), nil, core.Identity{Tier: "vip", Addr: "203.0.113.9"}, core.Allowed, 200, "free", byAddr},

		{"unknown tier, by default", threeTiers(), nil, unknown, core.Allowed, 200, "free", core.Key{Tier: "free", ID: "key_eva"}},
		{
			"unknown tier, other tier", threeTiers(),
			[]core.Option{core.OnUnknownTier(core.UseTier("anonymous"))},
			unknown, core.Allowed, 200, "anonymous",
			core.Key{Tier: "anonymous", ID: "key_eva"},
		},
		{
			"unknown tier, unlimited tier", threeTiers(),
			[]core.Option{core.OnUnknownTier(core.UseTier("vip"))},
			unknown, core.AllowedUnlimited, 200, "vip",
			core.Key{},
		},
		{"unknown tier, denied", threeTiers(), []core.Option{core.OnUnknownTier(core.Deny(402))}, unknown, core.UnknownTier, 402, "", core.Key{}},
		{"unknown tier, let through", threeTiers(), []core.Option{core.OnUnknownTier(core.Allow)}, unknown, core.AllowedUnknownTier, 200, "", core.Key{}},
		{"unknown tier, no default", withoutDefault(), nil, unknown, core.UnknownTier, 403, "", core.Key{}},

		{
			"no tier means the default", threeTiers(),
			[]core.Option{core.OnUnknownTier(core.Deny(402))},
			untiered, core.Allowed, 200, "free",
			core.Key{Tier: "free", ID: "key_eva"},
		},
		{"no tier and no default is unknown", withoutDefault(), []core.Option{core.OnUnknownTier(core.Deny(402))}, untiered, core.UnknownTier, 402, "", core.Key{}},
		{
			"no tier and no default, other tier", withoutDefault(),
			[]core.Option{core.OnUnknownTier(core.UseTier("anonymous"))},
			untiered, core.Allowed, 200, "anonymous",
			core.Key{Tier: "anonymous", ID: "key_eva"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.plans, c.opts...)
			d := r.Take(t.Context(), c.id, 1)
			require.Equal(t, c.outcome, d.Outcome)
			require.Equal(t, c.status, d.Status())
			require.Equal(t, c.status == http.StatusOK, d.Allowed())
			require.Equal(t, c.tier, d.Tier)
			require.Equal(t, start, d.At)
			require.Equal(t, 1, d.Asked)
			require.NoError(t, d.Err)
			if c.key == (core.Key{}) {
				require.Zero(t, r.store.calls())
				require.Zero(t, d.Cost)
				require.Empty(t, remaining(d))
				return
			}
			require.Equal(t, c.key, r.store.last(t).Key)
			require.Equal(t, 1, d.Cost)
		})
	}
}

func TestDefaultTierThatIsUnlimitedLetsAnUnknownTierThrough(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("vip", core.Unlimited()))
	require.Equal(t, core.AllowedUnlimited, r.Take(t.Context(), core.Identity{Key: "key_eva", Tier: "gold"}, 1).Outcome)
}

func TestBogusTierNamesDoNotMultiplyTheQuota(t *testing.T) {
	t.Parallel()
	r := newRig(t, threeTiers())
	admitted := 0
	for i := range 100 {
		if r.Take(t.Context(), core.Identity{Key: "key_eva", Tier: fmt.Sprintf("gold%d", i)}, 1).Allowed() {
			admitted++
		}
	}
	require.Equal(t, 10, admitted)
	require.False(t, r.Take(t.Context(), core.Identity{Key: "key_eva", Tier: "free"}, 1).Allowed(), "it is the user's own bucket of the default tier")
}

func TestAnonymousCallersHaveABucketForEachAddress(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerMinute(1)))
	for _, addr := range []string{"203.0.113.9", "203.0.113.10", "2001:db8:1:2::/64"} {
		require.True(t, r.Take(t.Context(), core.Identity{Addr: addr}, 1).Allowed(), addr)
		require.False(t, r.Take(t.Context(), core.Identity{Addr: addr}, 1).Allowed(), addr)
		user := core.Identity{Key: addr, Tier: "free"}
		require.True(t, r.Take(t.Context(), user, 1).Allowed(), "a user with that very id is somebody else")
		require.False(t, r.Take(t.Context(), user, 1).Allowed())
	}
	require.Len(t, r.store.keys(), 6)
}

func TestIdentitiesNeverCollide(t *testing.T) {
	t.Parallel()
	plans := core.Plans{Tiers: map[string]core.Quota{"a": core.PerMinute(1), "a:b": core.PerMinute(1)}}
	r := newRig(t, plans)
	for _, id := range []core.Identity{
		{Key: "b:c", Tier: "a"},
		{Key: "c", Tier: "a:b"},
		{Key: "a\nb", Tier: "a"},
		{Key: "a\x00b", Tier: "a"},
		{Key: "*", Tier: "a"},
		{Key: " ", Tier: "a"},
		{Key: "\xff\xfe", Tier: "a"},
		{Key: string(make([]byte, 1<<20)), Tier: "a"},
		{Key: string(make([]byte, 1<<20+1)), Tier: "a"},
	} {
		require.True(t, r.Take(t.Context(), id, 1).Allowed(), "%.20q", id)
		require.False(t, r.Take(t.Context(), id, 1).Allowed(), "%.20q", id)
	}
}

func TestStatusesThatDenyTakes(t *testing.T) {
	t.Parallel()
	options := map[string]func(core.Policy) core.Option{"OnMissing": core.OnMissing, "OnUnknownTier": core.OnUnknownTier, "OnStorageError": core.OnStorageError}
	for name, option := range options {
		for _, status := range []int{400, 401, 429, 503, 599} {
			_, err := core.New(newStore(core.SystemClock), threeTiers(), option(core.Deny(status)))
			require.NoError(t, err, status)
		}
		for _, status := range []int{-1, 0, 200, 302, 399, 600, 70_000} {
			_, err := core.New(newStore(core.SystemClock), threeTiers(), option(core.Deny(status)))
			require.ErrorContains(t, err, fmt.Sprintf("core: %s: Deny(%d), the status must be 400 to 599", name, status))
		}
		_, err := core.New(newStore(core.SystemClock), threeTiers(), option(core.Policy{}))
		require.ErrorContains(t, err, "core: "+name+": no policy, use Allow, UseDefault, UseTier or Deny")
	}
}

func TestTierOfAPolicyMustExist(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]func(core.Policy) core.Option{"OnMissing": core.OnMissing, "OnUnknownTier": core.OnUnknownTier} {
		for _, tier := range []string{"gold", ""} {
			_, err := core.New(newStore(core.SystemClock), threeTiers(), option(core.UseTier(tier)))
			require.ErrorContains(t, err, fmt.Sprintf("core: %s: UseTier(%q) names no tier of the plans", name, tier))
			r := newRig(t, threeTiers())
			_, err = r.With(option(core.UseTier(tier)))
			require.ErrorContains(t, err, "names no tier of the plans")
		}
	}
	for _, p := range []core.Policy{core.UseDefault, core.UseTier("free")} {
		_, err := core.New(newStore(core.SystemClock), threeTiers(), core.OnStorageError(p))
		require.ErrorContains(t, err, "core: OnStorageError: use Allow or Deny")
		require.Len(t, faults(err), 1)
	}
}

func TestPoliciesAreComparable(t *testing.T) {
	t.Parallel()
	same := core.Deny(401)
	require.Equal(t, same, core.Deny(401))
	require.NotEqual(t, core.Deny(401), core.Deny(403))
	require.NotEqual(t, core.UseDefault, core.UseTier(""))
	require.NotEqual(t, core.Policy{}, core.Allow)
}

func TestOverrideIsOneCustomersOwnDeal(t *testing.T) {
	t.Parallel()
	plans := threeTiers()
	plans.Overrides = map[string]core.Quota{
		"acme":        core.PerMinute(99),
		"friend":      core.Unlimited(),
		"crook":       core.Blocked(),
		"203.0.113.9": core.Unlimited(),
	}
	r := newRig(t, plans)
	d := r.Take(t.Context(), core.Identity{Key: "acme", Tier: "free"}, 50)
	require.Equal(t, "free", d.Tier)
	require.Equal(t, 99, d.Limit.Count)
	require.Equal(t, 49, d.Level.Remaining)
	require.Equal(t, core.Key{Tier: "free", ID: "acme"}, r.store.last(t).Key)

	d = r.Take(t.Context(), core.Identity{Key: "acme", Tier: "gold"}, 1)
	require.Equal(t, "free", d.Tier)
	require.Equal(t, 48, d.Level.Remaining, "also under a tier that the plans lack")

	require.Equal(t, core.AllowedUnlimited, r.Take(t.Context(), core.Identity{Key: "friend", Tier: "banned"}, 1).Outcome)
	require.Equal(t, core.TierBlocked, r.Take(t.Context(), core.Identity{Key: "crook", Tier: "vip"}, 1).Outcome)
	require.Equal(t, 10, r.Take(t.Context(), core.Identity{Addr: "203.0.113.9"}, 1).Limit.Count, "an address is no customer")
	require.Equal(t, 10, r.Take(t.Context(), ana, 1).Limit.Count)
}
