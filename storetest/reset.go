package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// reset proves that Reset forgets what it is told to and nothing else.
func (o opener) reset(t *testing.T) {
	for _, k := range append(sets(10), set{"mixed_windows", list(sliding(10, time.Hour), gcra(10, time.Minute), fixed(10, time.Hour))}) {
		t.Run(k.name+"/unknown_key", func(t *testing.T) {
			s := o.open(t)
			s.reset(t, core.Key{Tier: "pro", ID: "nobody"}, k.limits)
			require.True(t, s.charge(t, core.Key{Tier: "pro", ID: "nobody"}, k.limits, 10).Allowed, "a Reset leaves a fresh bucket")
		})
		t.Run(k.name+"/forgets", func(t *testing.T) { resetForgets(t, o.open(t), k.limits) })
		t.Run(k.name+"/neighbours", func(t *testing.T) { resetNeighbours(t, o.open(t), k.limits) })
	}
	t.Run("other_sets", func(t *testing.T) { resetOtherSets(t, o.open(t)) })
}

func resetForgets(t *testing.T, s subject, limits []core.Limit) {
	t.Helper()
	key, plain := core.Key{Tier: "pro", ID: "ana"}, list(gcra(10, time.Hour))
	// The set is what counts, not the order or the counts that it is told with.
	turned := slices.Clone(limits)
	slices.Reverse(turned)
	for i := range turned {
		turned[i].Count, turned[i].Burst = 20, 20
	}
	for _, by := range [][]core.Limit{limits, turned} {
		s.charge(t, key, plain, 4)
		s.charge(t, key, limits, 3)
		s.reset(t, key, by)
		res := s.look(t, key, limits, 10)
		require.True(t, res.Allowed, "Reset forgets every window of the limits, in whatever order and with whatever counts it is told")
		for i := range limits {
			require.Equal(t, lv(10, 0, 0), res.Levels[i], "Reset forgets every window of the limits")
		}
		require.Equal(t, lv(10, 0, 0), s.look(t, key, plain, 1).Levels[0], "Reset forgets the key's plain bucket (a lone GCRA window) as well")
	}
}

func resetNeighbours(t *testing.T, s subject, limits []core.Limit) {
	t.Helper()
	keys := []core.Key{
		{Scope: "api", Tier: "pro", ID: "ana"},
		{Tier: "pro", ID: "ana"},
		{Scope: "api", Tier: "free", ID: "ana"},
		{Scope: "web", Tier: "pro", ID: "ana"},
		{Scope: "api", Tier: "pro", ID: "ana", Anonymous: true},
		{Scope: "api", Tier: "pro", ID: "an"},
		{Scope: "api", Tier: "pro", ID: "anab"},
		{Scope: "api", Tier: "pro", ID: "a*"},
		{Scope: "api", Tier: "pro", ID: "*"},
		{Scope: "api", Tier: "pro"},
		{Scope: "api", Tier: "*"},
		{Scope: "*"},
		{},
	}
	plain := list(gcra(10, time.Hour))
	spend := func(k core.Key) {
		s.charge(t, k, limits, 3)
		s.charge(t, k, plain, 1)
	}
	for _, key := range keys {
		spend(key)
	}
	for i, key := range keys {
		s.reset(t, key, limits)
		for j, k := range keys {
			spent := s.look(t, k, limits, 1).Levels[0].Remaining < 10 && s.look(t, k, plain, 1).Levels[0].Remaining < 10
			if spent != (i != j) {
				t.Fatalf("Reset forgets one key and no other: after the Reset of %s, is %s still charged? want %t, got %t",
					keyText(key), keyText(k), i != j, spent)
			}
		}
		spend(key)
	}
}

func resetOtherSets(t *testing.T, s subject) {
	t.Helper()
	key := core.Key{Tier: "pro", ID: "ana"}
	plain := list(gcra(10, time.Minute))
	one, two := list(fixed(10, time.Minute)), list(gcra(10, time.Minute), fixed(10, time.Minute))
	for _, limits := range [][]core.Limit{plain, one, two} {
		s.charge(t, key, limits, 3)
	}
	s.reset(t, key, plain)
	require.Equal(t, 10, s.look(t, key, plain, 1).Levels[0].Remaining, "Reset forgets the plain bucket")
	require.Equal(t, 7, s.look(t, key, one, 1).Levels[0].Remaining, "Reset forgets the limits it is given and the plain bucket, no other set of windows")
	require.Equal(t, 7, s.look(t, key, two, 1).Levels[0].Remaining, "Reset forgets the limits it is given and the plain bucket, no other set of windows")
	s.reset(t, key, two)
	require.Equal(t, 10, s.look(t, key, two, 1).Levels[0].Remaining, "Reset forgets every window of the limits")
	require.Equal(t, 7, s.look(t, key, one, 1).Levels[0].Remaining, "Reset forgets the limits it is given and the plain bucket, no other set of windows")
}
