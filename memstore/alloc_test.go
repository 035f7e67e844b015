package memstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/memstore"
)

func TestACheckOfAKnownKeyAllocatesNothing(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts everybody's
	key := user(1)
	many := 1 << 26
	for name, c := range map[string]struct {
		limits []core.Limit
		cost   int
		mode   core.Mode
		known  bool // else nothing is ever kept
	}{
		"allowed":               {core.Per(1, time.Minute).WithBurst(many).Limits(), 1, core.Charge, true},
		"refused":               {core.PerDay(1).Limits(), 1, core.Charge, true},
		"look":                  {core.PerDay(10).Limits(), 1, core.Look, true},
		"look at nothing":       {core.PerDay(10).Limits(), 1, core.Look, false},
		"force":                 {core.PerDay(10).Limits(), 1, core.Force, true},
		"give back":             {core.Per(1, time.Minute).WithBurst(many).Limits(), -1, core.Force, true},
		"fixed window":          {core.PerDay(many).Using(core.FixedWindow).Limits(), 1, core.Charge, true},
		"fixed window, refused": {core.PerDay(1).Using(core.FixedWindow).Limits(), 1, core.Charge, true},
		"sliding log, refused":  {core.PerDay(5).Using(core.SlidingLog).Limits(), 1, core.Charge, true},
		"two windows":           {core.PerDay(1 << 20).And(core.Per(1<<20, 7*24*time.Hour)).Limits(), 1, core.Charge, true},
		"two windows, refused":  {core.PerHour(1).And(core.PerDay(50)).Limits(), 1, core.Charge, true},
	} {
		s := memstore.New()
		if c.known {
			require.True(t, charge(s, key, c.limits, 1).Allowed, name)
		}
		ctx := t.Context()
		require.Zero(t, testing.AllocsPerRun(1000, func() {
			_, _ = s.Take(ctx, core.Request{Key: key, Limits: c.limits, Cost: c.cost, Mode: c.mode})
		}), name)
	}
}

func TestASlidingLogInSteadyStateAllocatesNothing(t *testing.T) { //nolint:paralleltest // as above
	s, clock := open()
	limits, key := core.PerSecond(50).Using(core.SlidingLog).Limits(), user(1)
	ask := func() {
		clock.Advance(21 * time.Millisecond)
		charge(s, key, limits, 1)
	}
	for range 200 {
		ask()
	}
	require.Zero(t, testing.AllocsPerRun(1000, ask))
}

func TestALimiterOverTheStoreAllocatesNothing(t *testing.T) { //nolint:paralleltest // as above
	limiter, err := core.New(memstore.New(), core.Plans{Tiers: map[string]core.Quota{
		"free":   core.PerDay(1),
		"pro":    core.Per(1, time.Minute).WithBurst(1 << 26),
		"member": core.PerDay(1 << 20).Using(core.FixedWindow),
	}})
	require.NoError(t, err)
	ctx := t.Context()
	for _, tier := range []string{"free", "pro", "member"} {
		id := core.Identity{Key: "ana", Tier: tier}
		require.True(t, limiter.Take(ctx, id, 1).Allowed())
		allowed := tier != "free"
		require.Zero(t, testing.AllocsPerRun(1000, func() {
			if limiter.Take(ctx, id, 1).Allowed() != allowed {
				t.Error(tier)
			}
		}), tier)
	}
}

func TestANewKeyAllocatesNextToNothing(t *testing.T) { //nolint:paralleltest // as above
	s := memstore.New()
	limits := core.PerDay(10).Limits()
	keys := make([]core.Key, 20_000)
	for i := range keys {
		keys[i] = user(i)
	}
	i := 0
	ctx := t.Context()
	require.Less(t, testing.AllocsPerRun(len(keys)-1, func() {
		_, _ = s.Take(ctx, core.Request{Key: keys[i], Limits: limits, Cost: 1})
		i++
	}), 1.0, "only the tables grow")
}

// The levels of several windows do not fit into a Decision.
func TestALimiterWithSeveralWindowsAllocatesOnce(t *testing.T) { //nolint:paralleltest // as above
	limiter, err := core.New(memstore.New(), core.Plans{Tiers: map[string]core.Quota{
		"pro": core.PerDay(1 << 20).And(core.Per(1<<20, 7*24*time.Hour)),
	}, Default: "pro"})
	require.NoError(t, err)
	id := core.Identity{Key: "ana"}
	limiter.Take(t.Context(), id, 1)
	ctx := t.Context()
	require.LessOrEqual(t, testing.AllocsPerRun(1000, func() { limiter.Take(ctx, id, 1) }), 1.0)
}
