package denystore_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// requireAskedOrExact asserts that a charge asks the store, or that memory tells
// what the store would.
func (g gated) requireAskedOrExact(t *testing.T, limits []core.Limit, cost int) {
	t.Helper()
	want := g.look(limits, cost)
	got := g.charge(limits, cost)
	if got.asked {
		got.end(arrives)
		return
	}
	require.Equal(t, want.Levels, got.res.Levels)
}

// TestTheLastClaimToBeAnsweredNeedNotBeTheLastCharged: of two units, the one that
// was charged first is answered last, and knows nothing of the other.
func TestTheLastClaimToBeAnsweredNeedNotBeTheLastCharged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limits := core.PerSecond(2).Limits()
		g := newGated()
		g.exhaust(t, limits)
		g.clock.Advance(time.Second)
		first, second := g.charge(limits, 1), g.charge(limits, 1)
		first.judge()
		second.end(arrives)
		first.end(arrives)
		require.True(t, first.res.Allowed && second.res.Allowed)
		g.requireAskedOrExact(t, limits, 2)
	})
}

// TestALateRefusalInThePlaceOfAClaimIsAskedAboutAgain: it was judged before what
// was claimed was charged.
func TestALateRefusalInThePlaceOfAClaimIsAskedAboutAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGated()
		g.exhaust(t, ten)
		g.clock.Advance(6 * time.Second)
		late := g.charge(ten, 2) // of age, so it is the one who asks
		late.judge()
		claim := g.charge(ten, 1)
		claim.judge()
		late.end(arrives)
		claim.end(arrives)
		require.True(t, claim.res.Allowed)
		g.requireAskedOrExact(t, ten, 2)
	})
}

// TestAClaimIsTheLastThoughOneBesideItIsLost: of two claims one is never answered. What
// the store said before the other was charged is asked about again.
func TestAClaimIsTheLastThoughOneBesideItIsLost(t *testing.T) {
	t.Parallel()
	for _, f := range []fate{fails, panics, hangsUp} {
		synctest.Test(t, func(t *testing.T) {
			limits := core.PerSecond(2).Limits()
			g := newGated()
			g.exhaust(t, limits)
			g.clock.Advance(time.Second)
			lost, claim := g.charge(limits, 1), g.charge(limits, 1)
			lost.end(f)
			between := g.charge(limits, 2)
			require.True(t, between.asked, f)
			between.judge()
			claim.judge()
			between.end(arrives)
			claim.end(arrives)
			require.False(t, between.res.Allowed)
			require.True(t, claim.res.Allowed)
			g.requireAskedOrExact(t, limits, 2)
		})
	}
}
