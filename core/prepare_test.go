package core_test

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
)

// preparer is a store with a short way, on which it notes what it is asked.
type preparer struct {
	*refStore

	prepared []string
	charges  []core.Key
}

func (p *preparer) Prepare(asked core.Store, tier string, limit core.Limit) core.Prepared {
	if asked != core.Store(p) {
		return nil
	}
	p.prepared = append(p.prepared, tier)
	return func(scope, id string, anonymous bool, cost int) (core.Level, time.Time, bool) {
		key := core.Key{Scope: scope, Tier: tier, ID: id, Anonymous: anonymous}
		p.charges = append(p.charges, key)
		state := p.states[bucket{key: key}]
		if state == nil {
			state = &core.State{}
			p.states[bucket{key: key}] = state
		}
		now := p.clock.Now()
		res := core.Apply(state, now, core.Request{Key: key, Limits: []core.Limit{limit}, Cost: cost})
		return res.Levels[0], now, res.Allowed
	}
}

func newPreparer() (*preparer, *fakeclock.Clock) {
	clock := fakeclock.New(start)
	return &preparer{refStore: newStore(clock)}, clock
}

func preparedPlans() core.Plans {
	return core.Plans{
		Tiers: map[string]core.Quota{
			"free":    core.PerMinute(10),
			"shadow":  core.PerMinute(2).Shadow(),
			"both":    core.PerSecond(2).And(core.PerDay(5)),
			"fixed":   core.PerMinute(3).Using(core.FixedWindow),
			"endless": core.Unlimited(),
		},
		Default:   "free",
		Overrides: map[string]core.Quota{"vip": core.PerMinute(30)},
	}
}

func TestALoneWindowIsPreparedOncePerTier(t *testing.T) {
	t.Parallel()
	store, clock := newPreparer()
	l, err := core.New(store, preparedPlans(), core.WithClock(clock))
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"free", "shadow"}, store.prepared)
	require.NoError(t, l.SetPlans(core.Plans{Tiers: map[string]core.Quota{"free": core.PerMinute(20)}, Default: "free"}))
	require.ElementsMatch(t, []string{"free", "shadow", "free"}, store.prepared)
	require.Equal(t, 19, l.Take(t.Context(), core.Identity{Key: "ana"}, 1).Level.Remaining, "by the new plan")
	require.Error(t, l.SetPlans(core.Plans{}))
	require.Len(t, store.prepared, 3, "a bad one is refused whole")
}

// What a prepared charge decides equals what Take decides, in everything that
// can be seen.
func TestAPreparedChargeDecidesAsTakeDoes(t *testing.T) {
	t.Parallel()
	short, shortClock := newPreparer()
	clock := fakeclock.New(start)
	a, err := core.New(short, preparedPlans(), core.WithClock(shortClock))
	require.NoError(t, err)
	b, err := core.New(newStore(clock), preparedPlans(), core.WithClock(clock))
	require.NoError(t, err)
	for _, id := range []core.Identity{
		{Key: "ana", Tier: "free"},
		{Key: "bea", Tier: "shadow"},
		{Key: "cid", Tier: "both"},
		{Key: "dan", Tier: "fixed"},
		{Key: "vip", Tier: "free"},
		{Addr: "192.0.2.1"},
		{Key: "eve", Tier: "nowhere"},
		{Key: "fay", Tier: "endless"},
	} {
		for step := range 60 {
			x, y := a.Take(t.Context(), id, step%3), b.Take(t.Context(), id, step%3)
			same(t, x, y)
			// A refused one corrects nothing, a shadowed one does.
			switch step % 5 {
			case 1:
				same(t, x.Raise(t.Context(), 4), y.Raise(t.Context(), 4))
			case 2:
				x, y = x.Settle(t.Context(), 5), y.Settle(t.Context(), 5)
				same(t, x, y)
				same(t, x.Refund(t.Context()), y.Refund(t.Context()))
			case 3:
				same(t, x.Refund(t.Context()), y.Refund(t.Context()))
			}
			same(t, a.Peek(t.Context(), id, 1), b.Peek(t.Context(), id, 1))
			if step%20 == 9 {
				shortClock.Advance(25 * time.Second)
				clock.Advance(25 * time.Second)
			}
		}
	}
	require.NotEmpty(t, short.charges)
	for _, key := range short.charges {
		require.NotContains(t, []string{"both", "fixed", "endless"}, key.Tier)
		require.NotEqual(t, "vip", key.ID, "an override is asked in full")
	}
}

func same(t *testing.T, x, y core.Decision) {
	t.Helper()
	require.Equal(t, y.Outcome, x.Outcome)
	require.Equal(t, y.Tier, x.Tier)
	require.Equal(t, []int{y.Asked, y.Cost, y.Status()}, []int{x.Asked, x.Cost, x.Status()})
	require.Equal(t, y.Limit, x.Limit)
	require.Equal(t, y.Level, x.Level)
	require.Equal(t, maps.Collect(y.All()), maps.Collect(x.All()))
	require.Equal(t, y.At, x.At)
	require.Equal(t, []bool{y.Allowed(), y.Shadowed, y.Degraded, y.Enforced()}, []bool{x.Allowed(), x.Shadowed, x.Degraded, x.Enforced()})
	require.Equal(t, y.Err, x.Err)
}

func TestAPreparedChargeKnowsItsScope(t *testing.T) {
	t.Parallel()
	store, clock := newPreparer()
	l, err := core.New(store, preparedPlans(), core.WithClock(clock))
	require.NoError(t, err)
	scoped, err := l.With(core.WithScope("reports"))
	require.NoError(t, err)
	l.Take(t.Context(), core.Identity{Key: "ana"}, 1)
	d := scoped.Take(t.Context(), core.Identity{Addr: "192.0.2.1"}, 1)
	require.Equal(t, []core.Key{
		{Tier: "free", ID: "ana"},
		{Scope: "reports", Tier: "free", ID: "192.0.2.1", Anonymous: true},
	}, store.charges)
	require.True(t, scoped.Charged(d, core.Identity{Addr: "192.0.2.1"}))
	require.False(t, l.Charged(d, core.Identity{Addr: "192.0.2.1"}))
}

func TestAPeekIsNotPrepared(t *testing.T) {
	t.Parallel()
	store, clock := newPreparer()
	l, err := core.New(store, preparedPlans(), core.WithClock(clock))
	require.NoError(t, err)
	require.Equal(t, 10, l.Peek(t.Context(), core.Identity{Key: "ana"}, 1).Level.Remaining)
	require.Empty(t, store.charges)
}
