package memory

import (
	"github.com/tierlimit/tierlimit/benchmarks/duel"
	"github.com/tierlimit/tierlimit/benchmarks/rival"
)

// fills is how often a store is filled: a fill takes half a second and is
// steadier than a short slice.
const fills = 7

// insert fills an empty store of each contender with all keys. It is timed
// whole, because growing is part of the price and comes in leaps that a short
// slice may miss.
func insert(o duel.Options, keys []string) []duel.Row {
	o.Rounds = min(o.Rounds, fills)
	var candidates []duel.Candidate
	for _, c := range rival.All() {
		var check rival.Check
		var stop func()
		candidates = append(candidates, duel.Candidate{
			Name: c.Name, N: len(keys),
			Prepare: func(int) {
				tidy() // the store before is gone
				check, stop = c.Open(rival.Endless)
			},
			Run: func(int) {
				for _, key := range keys {
					_, _ = check(key)
				}
				stop()
				check = nil // nobody collects it at another's cost
			},
		})
	}
	return duel.Race(o, candidates...)
}
