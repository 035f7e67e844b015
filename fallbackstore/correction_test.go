package fallbackstore_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fallbackstore"
)

// correction is what may follow a charge.
type correction struct {
	name string
	do   func(context.Context, core.Decision) core.Decision
	cost int // in all, afterwards
}

var corrections = []correction{
	{"raise", func(ctx context.Context, d core.Decision) core.Decision { return d.Raise(ctx, 4) }, 4},
	{"settle up", func(ctx context.Context, d core.Decision) core.Decision { return d.Settle(ctx, 3) }, 3},
	{"settle down", func(ctx context.Context, d core.Decision) core.Decision { return d.Settle(ctx, 1) }, 1},
	{"refund", func(ctx context.Context, d core.Decision) core.Decision { return d.Refund(ctx) }, 0},
	{"raise and refund", func(ctx context.Context, d core.Decision) core.Decision {
		return d.Raise(ctx, 4).Refund(ctx)
	}, 0},
	{"a raise that is refused", func(ctx context.Context, d core.Decision) core.Decision { return d.Raise(ctx, 9) }, 0},
	{"everything, twice", func(ctx context.Context, d core.Decision) core.Decision {
		d = d.Raise(ctx, 3).Settle(ctx, 4).Settle(ctx, 1).Raise(ctx, 2)
		d.Refund(ctx)
		d = d.Refund(ctx)
		return d.Refund(ctx) // of nothing
	}, 0},
}

// TestACorrectionOfADegradedDecisionStaysLocal: also when the shared store is
// back by then, which knows nothing of it.
func TestACorrectionOfADegradedDecisionStaysLocal(t *testing.T) {
	t.Parallel()
	for _, back := range []bool{false, true} {
		for _, c := range corrections {
			p := newPair(fallbackstore.WithShare(0.5))
			l, _ := limiterOver(t, p)
			p.primary.fail(errAway)
			d := l.Take(t.Context(), id, 2)
			p.primary.requests()
			if back {
				p.primary.fail(nil)
			}
			if c.name == "everything, twice" {
				l.Take(t.Context(), core.Identity{Key: "bea", Tier: "free"}, 1) // somebody else's meanwhile
				p.primary.requests()
			}
			d = c.do(t.Context(), d)
			require.Empty(t, p.primary.requests(), "%s, back: %t", c.name, back)
			require.True(t, d.Degraded, c.name)
			require.Equal(t, c.cost, d.Cost, c.name)
			want := 5 - c.cost
			if c.name == "everything, twice" {
				want = 5 // never beyond full
			}
			require.Equal(t, want, p.local.left(t, five), "%s, back: %t", c.name, back)
			require.Equal(t, 10, p.primary.left(t, ten), c.name)
		}
	}
}

// TestEachStoreGetsBackWhatItTook: the first unit was charged by the shared
// store, the rest locally.
func TestEachStoreGetsBackWhatItTook(t *testing.T) {
	t.Parallel()
	mixed := func(t *testing.T, p pair, l *core.Limiter) core.Decision {
		t.Helper()
		d := l.Take(t.Context(), id, 1)
		require.False(t, d.Degraded)
		p.primary.fail(errAway)
		d = d.Raise(t.Context(), 4)
		require.True(t, d.Allowed() && d.Degraded)
		require.Equal(t, 4, d.Cost)
		require.Equal(t, []int{9, 2}, []int{p.primary.left(t, ten), p.local.left(t, five)})
		return d
	}
	for _, c := range []struct {
		settle          int
		away            bool
		primary, local  int
		err             bool
		name            string
		afterwardsCosts int
	}{
		{4, false, 9, 2, false, "as it is", 4},
		{2, false, 9, 4, false, "less: the local store's was charged last", 2},
		{1, false, 9, 5, false, "all of the local store's", 1},
		{0, false, 10, 5, false, "all of both", 0},
		{0, true, 9, 5, true, "the local part, and the shared store keeps its own", 0},
		{5, false, 9, 1, false, "more, locally", 5},
		{9, false, 9, 0, false, "more than there is", 6},
	} {
		p := newPair(fallbackstore.WithShare(0.5))
		l, events := limiterOver(t, p)
		d := mixed(t, p, l)
		if !c.away {
			p.primary.fail(nil)
		}
		d = d.Settle(t.Context(), c.settle)
		require.Equal(t, c.afterwardsCosts, d.Cost, c.name)
		require.Equal(t, []int{c.primary, c.local}, []int{p.primary.left(t, ten), p.local.left(t, five)}, c.name)
		if c.err {
			require.ErrorIs(t, d.Err, errAway, c.name)
		} else {
			require.NoError(t, d.Err, c.name)
		}
		require.True(t, (*events)[len(*events)-1].Late, c.name)
	}
}

// TestARaiseThatIsRefusedLocallyGivesTheFirstUnitBack to the store that took it.
func TestARaiseThatIsRefusedLocallyGivesTheFirstUnitBack(t *testing.T) {
	t.Parallel()
	for _, back := range []bool{true, false} {
		p := newPair(fallbackstore.WithShare(0.5))
		l, _ := limiterOver(t, p)
		d := l.Take(t.Context(), id, 1)
		if back { // by the time that it is given back
			calls := 0
			p.Store = fallbackstore.New(taker(func(ctx context.Context, r core.Request) (core.Result, error) {
				calls++
				if calls == 2 {
					return core.Result{}, errAway
				}
				return p.primary.Take(ctx, r)
			}), p.local, fallbackstore.WithShare(0.5))
			l, _ = limiterOver(t, p)
			d = l.Take(t.Context(), core.Identity{Key: "bea", Tier: "free"}, 1)
		} else {
			p.primary.fail(errAway)
		}
		d = d.Raise(t.Context(), 9)
		require.Equal(t, core.OverQuota, d.Outcome)
		require.Zero(t, d.Cost)
		require.Equal(t, 5, p.local.left(t, five), "which charged nothing")
		bea := take(t, p.primary.Store, core.Request{Key: core.Key{Tier: "free", ID: "bea"}, Limits: ten, Mode: core.Look})
		require.Equal(t, 10, bea.Levels[0].Remaining)
		if !back {
			require.ErrorIs(t, d.Err, errAway)
			require.Equal(t, 9, p.primary.left(t, ten), "it could not be")
		}
	}
}
