package growth

import (
	"context"
	"math/rand/v2"
	"strconv"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/memstore"
)

// tiers is a check by a limiter whose plans have 1 to 1,000 tiers, each asked
// for at random, with a thousand accounts in all.
func tiers(o duel.Options) (curve, error) {
	of := sizes(o, 0, 3)
	var bytes []float64
	var runs []func(n int)
	for _, size := range of {
		before := heap()
		plans := core.Plans{Tiers: make(map[string]core.Quota, size)}
		for i := range size {
			plans.Tiers["tier-"+strconv.Itoa(i)] = endless(core.PerMinute(1))
		}
		limiter, err := core.New(memstore.New(), plans)
		if err != nil {
			return nil, err
		}
		random := rand.New(rand.NewPCG(o.Seed, uint64(size)))
		ids := make([]core.Identity, 1000)
		for i, account := range random.Perm(len(ids)) {
			ids[i] = core.Identity{Key: "account-" + strconv.Itoa(account), Tier: "tier-" + strconv.Itoa(account%size)}
		}
		bytes = append(bytes, heap()-before)
		runs = append(runs, limiting(limiter, ids))
	}
	return race(o, of, bytes, runs), nil
}

func limiting(limiter *core.Limiter, ids []core.Identity) func(n int) {
	at := 0
	ctx := context.Background()
	return func(n int) {
		for range n {
			limiter.Take(ctx, ids[at], 1)
			at++
			if at == len(ids) {
				at = 0
			}
		}
	}
}
