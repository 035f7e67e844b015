package growth

import (
	"context"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/memstore"
)

// sample bounds how many of a store's keys are asked; more than the caches hold.
const sample = 1_000_000

// keys is a check beside 1 to ten million keys in memory, each asked for in
// random order by a string of its own.
func keys(o duel.Options) curve {
	of := sizes(o, 0, 7)
	// In a minute the first of many keys would run out again before the last race has ended.
	limits := core.Per(1, 10*time.Minute).WithBurst(7_000_000).Limits()
	var bytes []float64
	var runs []func(n int)
	for _, size := range of {
		before := heap()
		s := memstore.New(memstore.WithMaxKeys(1 << 24))
		for i := range size {
			charge(s, account(i), limits)
		}
		bytes = append(bytes, (heap()-before)/float64(size))
		runs = append(runs, asking(s, asked(size, o.Seed), limits))
	}
	return race(o, of, bytes, runs)
}

func account(i int) string { return "account-" + strconv.Itoa(i) }

// asked are names of accounts below size, at random, in memory by their order.
func asked(size int, seed uint64) []string {
	random := rand.New(rand.NewPCG(seed, uint64(size)))
	ids := make([]string, min(max(size, 1000), sample))
	for i := range ids {
		ids[i] = account(random.IntN(size))
	}
	return ids
}

func charge(s core.Store, id string, limits []core.Limit) {
	_, _ = s.Take(context.Background(), core.Request{Key: core.Key{Tier: "pro", ID: id}, Limits: limits, Cost: 1})
}

// asking goes through ids again and again.
func asking(s core.Store, ids []string, limits []core.Limit) func(n int) {
	at := 0
	ctx := context.Background()
	return func(n int) {
		for range n {
			_, _ = s.Take(ctx, core.Request{Key: core.Key{Tier: "pro", ID: ids[at]}, Limits: limits, Cost: 1})
			at++
			if at == len(ids) {
				at = 0
			}
		}
	}
}
