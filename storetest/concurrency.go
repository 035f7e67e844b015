package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// concurrency asks from many goroutines at once, while the clock stands.
func (o opener) concurrency(t *testing.T) {
	for _, k := range sets(50) {
		t.Run("burst/"+k.name, func(t *testing.T) { burstAtOnce(t, o.open(t), k.limits) })
		t.Run("costs/"+k.name, func(t *testing.T) { costsAtOnce(t, o.open(t), k.limits) })
		t.Run("corrections/"+k.name, func(t *testing.T) { correctionsAtOnce(t, o.open(t), k.limits) })
	}
	for _, k := range sets(10) {
		t.Run("keys/"+k.name, func(t *testing.T) { keysAtOnce(t, o.open(t), k.limits) })
	}
}

// atOnce asks n requests side by side and returns their results. Any error
// ends the test.
func (s subject) atOnce(t *testing.T, n int, request func(i int) core.Request) []core.Result {
	t.Helper()
	s.take(t, core.Request{Key: request(0).Key, Limits: request(0).Limits, Mode: core.Look}) // skips what the store does not know
	var (
		results = make([]core.Result, n)
		errs    = make([]error, n)
		begin   = make(chan struct{})
		wg      sync.WaitGroup
	)
	for i := range n {
		wg.Go(func() {
			<-begin
			results[i], errs[i] = s.store.Take(t.Context(), request(i))
		})
	}
	close(begin)
	wg.Wait()
	require.NoErrorf(t, errors.Join(errs...), "%d requests at once", n)
	return results
}

// burstAtOnce sends 1,000 requests to 50 units.
func burstAtOnce(t *testing.T, s subject, limits []core.Limit) {
	t.Helper()
	key := core.Key{Tier: "pro", ID: "ana"}
	results := s.atOnce(t, 1000, func(int) core.Request { return core.Request{Key: key, Limits: limits, Cost: 1} })
	admitted, seen := 0, map[int]bool{}
	for _, res := range results {
		if res.Allowed {
			admitted++
			seen[res.Levels[0].Remaining] = true
		}
	}
	require.Equal(t, 50, admitted, "Take is one atomic step: of 1,000 requests at once a bucket of 50 admits exactly 50")
	require.Len(t, seen, 50, "Take is one atomic step: each admitted request sees another number of units left")
	require.False(t, s.look(t, key, limits, 1).Allowed, "all 50 units are spent")
}

// costsAtOnce sends requests of 1 to 7 units.
func costsAtOnce(t *testing.T, s subject, limits []core.Limit) {
	t.Helper()
	key := core.Key{Tier: "pro", ID: "ana"}
	cost := func(i int) int { return i%7 + 1 }
	results := s.atOnce(t, 200, func(i int) core.Request { return core.Request{Key: key, Limits: limits, Cost: cost(i)} })
	charged := 0
	for i, res := range results {
		want := 0
		if res.Allowed {
			want = cost(i)
		}
		require.Equal(t, want, res.Charged, "Charged is the cost of an admitted request and 0 of a refused one")
		charged += res.Charged
	}
	require.LessOrEqual(t, charged, 50, "requests at once never spend more than there is")
	require.Equal(t, 50-charged, s.look(t, key, limits, 0).Levels[0].Remaining, "what is left is what was not charged")
}

// correctionsAtOnce mixes charges that stay, charges that are given back,
// forces and looks. The clock stands, so every unit can be accounted for.
func correctionsAtOnce(t *testing.T, s subject, limits []core.Limit) {
	t.Helper()
	key := core.Key{Tier: "pro", ID: "ana"}
	ops := []op{charge(1), charge(2), force(3), look(1)}
	spent := 0
	for range 3 {
		results := s.atOnce(t, 80, func(i int) core.Request {
			do := ops[i%len(ops)]
			return core.Request{Key: key, Limits: limits, Cost: do.cost, Mode: do.mode}
		})
		var back []int
		for i, res := range results {
			spent += res.Charged
			if ops[i%len(ops)].mode == core.Look {
				require.Zero(t, res.Charged, "a look charges nothing")
			} else if i%2 == 1 || i%3 == 0 {
				back = append(back, res.Charged)
			}
		}
		require.LessOrEqual(t, spent, 50, "a force takes no more than is left, also beside charges")

		// All of these are given back while others charge.
		results = s.atOnce(t, 2*len(back), func(i int) core.Request {
			if i%2 == 0 {
				return core.Request{Key: key, Limits: limits, Cost: -back[i/2], Mode: core.Force}
			}
			return core.Request{Key: key, Limits: limits, Cost: 1}
		})
		for _, res := range results {
			spent += res.Charged
			require.LessOrEqual(t, res.Levels[0].Remaining, 50, "a give-back never fills a bucket beyond full")
		}
		require.LessOrEqual(t, spent, 50, "a give-back beside charges never invents quota")
		require.Equal(t, 50-spent, s.look(t, key, limits, 0).Levels[0].Remaining, "what is left is what was charged less what was given back")
	}
}

// keysAtOnce sends 25 requests to each of 40 buckets of 10, all mixed.
func keysAtOnce(t *testing.T, s subject, limits []core.Limit) {
	t.Helper()
	const keys = 40
	key := func(i int) core.Key { return core.Key{Tier: "pro", ID: fmt.Sprint("user", i%keys)} }
	results := s.atOnce(t, 25*keys, func(i int) core.Request { return core.Request{Key: key(i), Limits: limits, Cost: 1} })
	admitted := map[core.Key]int{}
	for i, res := range results {
		if res.Allowed {
			admitted[key(i)]++
		}
	}
	for i := range keys {
		require.Equalf(t, 10, admitted[key(i)], "every key has its own 10 units, also when all are new at once: %s", keyText(key(i)))
	}
}
