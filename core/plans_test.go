package core_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// faults are what is wrong, one a line.
func faults(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

func TestEveryFaultIsReportedAtOnceAndNamesItsTier(t *testing.T) {
	t.Parallel()
	_, err := core.New(nil, core.Plans{
		Tiers: map[string]core.Quota{
			"free":    core.PerMinute(0),
			"pro":     core.PerSecond(600_000),
			"good":    core.PerMinute(1),
			"forgot":  {},
			"new\nln": core.PerMinute(1),
			"":        core.Per(1, 0),
		},
		Default:   "gold",
		Overrides: map[string]core.Quota{"": core.PerMinute(1), "acme": core.PerDay(-1)},
	}, core.OnMissing(core.Policy{}), core.OnUnknownTier(core.UseTier("none")), core.OnStorageError(core.UseDefault),
		core.WithObserver(nil), core.WithClock(nil), core.WithScope("a\x00b"), nil)
	got := faults(err)
	for _, want := range []string{
		"core: the store is nil",
		`core: bad plans: tier "free": quota count is 0`,
		`core: bad plans: tier "pro": 600000/s`,
		`core: bad plans: tier "forgot": no quota`,
		`core: bad plans: tier "new\nln": the name has control characters`,
		`core: bad plans: tier "": the name is empty`,
		`core: bad plans: tier "": window is 0s`,
		`core: bad plans: default tier "gold" does not exist`,
		`core: bad plans: an override for the key ""`,
		`core: bad plans: override "acme": quota count is -1`,
		"core: OnMissing: no policy",
		`core: OnUnknownTier: UseTier("none")`,
		"core: OnStorageError: use Allow or Deny",
		"core: WithObserver: the observer is nil",
		"core: WithClock: the clock is nil",
		`core: WithScope("a\x00b"): the name has control characters`,
		"core: option 7 is nil",
	} {
		require.Condition(t, func() bool {
			for _, line := range got {
				if strings.HasPrefix(line, want) {
					return true
				}
			}
			return false
		}, "%s is missing in:\n%s", want, strings.Join(got, "\n"))
	}
	require.Len(t, got, 17)
	require.NotContains(t, err.Error(), `"good"`)
}

func TestPlansWithoutATierAreRefused(t *testing.T) {
	t.Parallel()
	_, err := core.New(newStore(core.SystemClock), core.Plans{})
	require.ErrorContains(t, err, "at least one tier must be defined")
}

func TestTierNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"":                      "the name is empty",
		strings.Repeat("x", 65): "the name has 65 bytes, at most 64",
		strings.Repeat("é", 33): "the name has 66 bytes, at most 64",
		"a\xff":                 "not valid UTF-8",
		"a\x00":                 "control characters",
		"\t":                    "control characters",
		"a\x7f":                 "control characters",
		"a\u0085":               "control characters",
	} {
		_, err := core.New(newStore(core.SystemClock), core.Plans{Tiers: map[string]core.Quota{name: core.PerMinute(1)}})
		require.ErrorContains(t, err, want, "%q", name)
		if name != "" {
			_, err = core.New(newStore(core.SystemClock), only("free", core.PerMinute(1)), core.WithScope(name))
			require.ErrorContains(t, err, want, "%q", name)
		}
	}
	for _, name := range []string{"x", "anon", "a:b", "{x}", "100 %", "Größe XL", "ελ", strings.Repeat("x", 64), strings.Repeat("é", 32)} {
		_, err := core.New(newStore(core.SystemClock), only(name, core.PerMinute(1)), core.WithScope(name))
		require.NoError(t, err, "%q", name)
	}
}

func TestPlansAreCopiedOnTheWayInAndOut(t *testing.T) {
	t.Parallel()
	plans := core.Plans{
		Tiers:     map[string]core.Quota{"free": core.PerMinute(10)},
		Default:   "free",
		Overrides: map[string]core.Quota{"acme": core.PerMinute(99)},
	}
	r := newRig(t, plans)
	acme := core.Identity{Key: "acme", Tier: "free"}
	unchanged := func() {
		t.Helper()
		want := core.Plans{
			Tiers:     map[string]core.Quota{"free": core.PerMinute(10)},
			Default:   "free",
			Overrides: map[string]core.Quota{"acme": core.PerMinute(99)},
		}
		require.Equal(t, want, r.Plans())
		require.Equal(t, 10, r.Peek(t.Context(), ana, 1).Limit.Count)
		require.Equal(t, 99, r.Peek(t.Context(), acme, 1).Limit.Count)
	}
	unchanged()

	plans.Tiers["free"] = core.Unlimited()
	plans.Overrides["acme"] = core.Blocked()
	unchanged()
	got := r.Plans()
	got.Tiers["free"] = core.Unlimited()
	delete(got.Overrides, "acme")
	unchanged()

	plans.Tiers["free"] = core.PerMinute(7)
	plans.Overrides["acme"] = core.PerMinute(5)
	require.NoError(t, r.SetPlans(plans))
	plans.Tiers["free"] = core.Unlimited()
	delete(plans.Overrides, "acme")
	require.True(t, r.Plans().Tiers["free"].Equal(core.PerMinute(7)))
	require.True(t, r.Plans().Overrides["acme"].Equal(core.PerMinute(5)))
}

func TestBadPlansAreRefusedWholeAndTheOldOnesStay(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerMinute(10)))
	before := r.Plans()
	err := r.SetPlans(core.Plans{
		Tiers:     map[string]core.Quota{"free": core.PerMinute(99), "pro": core.Per(1, 0), "bad": core.PerMinute(-1)},
		Default:   "gone",
		Overrides: map[string]core.Quota{"acme": {}},
	})
	require.ErrorContains(t, err, `tier "pro": window is 0s`)
	require.ErrorContains(t, err, `tier "bad": quota count is -1`)
	require.ErrorContains(t, err, `default tier "gone"`)
	require.ErrorContains(t, err, `override "acme": no quota`)
	require.Len(t, faults(err), 4)
	require.Equal(t, before, r.Plans())
	require.Equal(t, 10, r.Take(t.Context(), ana, 1).Limit.Count)
}

func TestNewPlansReachEveryLimiterThatSharesThem(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerMinute(10)))
	child := r.with(t, core.WithScope("reports"))
	grandchild, err := child.With(core.OnMissing(core.UseTier("free")))
	require.NoError(t, err)

	require.NoError(t, grandchild.SetPlans(only("free", core.PerMinute(20))))
	for _, l := range []*core.Limiter{r.Limiter, child, grandchild} {
		require.Equal(t, 20, l.Take(t.Context(), ana, 1).Limit.Count)
	}
	require.NoError(t, r.SetPlans(only("free", core.PerMinute(30))))
	require.Equal(t, 30, child.Take(t.Context(), ana, 1).Limit.Count)
}

func TestNewPlansMustHoldTheTiersThatPoliciesName(t *testing.T) {
	t.Parallel()
	tiers := func(names ...string) core.Plans {
		p := core.Plans{Tiers: map[string]core.Quota{}}
		for _, name := range names {
			p.Tiers[name] = core.PerMinute(10)
		}
		return p
	}
	r := newRig(t, tiers("free", "anonymous", "legacy"))
	child := r.with(t, core.OnMissing(core.UseTier("anonymous")))
	_, err := child.With(core.OnUnknownTier(core.UseTier("legacy")))
	require.NoError(t, err)

	require.ErrorContains(t, r.SetPlans(tiers("free", "legacy")), `core: OnMissing: UseTier("anonymous") names no tier`)
	require.ErrorContains(t, child.SetPlans(tiers("free", "anonymous")), `core: OnUnknownTier: UseTier("legacy") names no tier`)
	require.Contains(t, r.Plans().Tiers, "legacy")
	require.NoError(t, r.SetPlans(tiers("anonymous", "legacy")))
	_, err = r.With(core.OnMissing(core.UseTier("free")))
	require.ErrorContains(t, err, `core: OnMissing: UseTier("free") names no tier`)
}

func TestNewPlansAreCheckedForEachOfSeveralPolicies(t *testing.T) {
	t.Parallel()
	plans := threeTiers()
	for _, tier := range []string{"anonymous", "vip", "banned"} {
		r := newRig(t, plans)
		for name := range plans.Tiers {
			r.with(t, core.OnMissing(core.UseTier(name)))
		}
		fewer := r.Plans()
		delete(fewer.Tiers, tier)
		require.ErrorContains(t, r.SetPlans(fewer), tier)

		r = newRig(t, plans)
		for name := range plans.Tiers {
			r.with(t, core.OnUnknownTier(core.UseTier(name)))
		}
		require.ErrorContains(t, r.SetPlans(fewer), tier)
	}
}

func TestATierThatWasRemovedSendsItsUsersToThePolicyAtOnce(t *testing.T) {
	t.Parallel()
	plans := only("free", core.PerMinute(10))
	plans.Tiers["pro"] = core.PerMinute(100)
	r := newRig(t, plans, core.OnUnknownTier(core.Deny(403)))
	pro := core.Identity{Key: "key_pia", Tier: "pro"}
	require.True(t, r.Take(t.Context(), pro, 1).Allowed())
	require.NoError(t, r.SetPlans(only("free", core.PerMinute(10))))
	require.Equal(t, core.UnknownTier, r.Take(t.Context(), pro, 1).Outcome)
}

func TestAnotherTierIsAFreshBucket(t *testing.T) {
	t.Parallel()
	plans := only("free", core.PerHour(10))
	plans.Tiers["pro"] = core.PerHour(20)
	r := newRig(t, plans)
	for range 50 {
		r.Take(t.Context(), ana, 1)
	}
	require.False(t, r.Take(t.Context(), ana, 1).Allowed())
	upgraded := core.Identity{Key: ana.Key, Tier: "pro"}
	require.Equal(t, 19, r.Take(t.Context(), upgraded, 1).Level.Remaining)
	require.False(t, r.Take(t.Context(), ana, 1).Allowed())
}

func TestChangedLimitHoldsForTheVeryNextRequest(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerDay(100).Using(core.FixedWindow)))
	require.True(t, r.Take(t.Context(), ana, 30).Allowed())
	require.NoError(t, r.SetPlans(only("free", core.PerDay(40).Using(core.FixedWindow))))
	require.Equal(t, 9, r.Take(t.Context(), ana, 1).Level.Remaining, "the same window keeps what was used")

	require.NoError(t, r.SetPlans(only("free", core.PerSecond(10).And(core.PerDay(1000)))))
	d := r.Take(t.Context(), ana, 1)
	require.Equal(t, []int{9, 999}, remaining(d), "another set of windows is a bucket of its own")
}

func TestPlansMayChangeWhileRequestsRun(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerMinute(1_000_000)), core.OnMissing(core.UseTier("free")))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 200 {
				switch i {
				case 0:
					_ = r.SetPlans(only("free", core.PerMinute(1_000_000)))
				case 1:
					_ = r.SetPlans(core.Plans{})
				case 2:
					_, _ = r.With(core.OnMissing(core.UseTier("free")), core.WithScope("x"))
				case 3:
					_ = r.Plans()
				default:
					if d := r.Take(t.Context(), ana, 1); !d.Allowed() || !r.Charged(d, ana) {
						t.Errorf("refused: %+v", d)
					}
				}
			}
		})
	}
	wg.Wait()
}

// remaining is what All shows as left.
func remaining(d core.Decision) []int {
	var left []int
	for _, level := range d.All() {
		left = append(left, level.Remaining)
	}
	return left
}
