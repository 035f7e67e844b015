package memory

import (
	"time"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
)

// targets are what the library promises of its memory store.
func (f findings) targets() []duel.Target {
	var targets []duel.Target
	against := func(what string, value duel.Row, bound float64) {
		targets = append(targets, duel.Target{What: what + " / " + value.Name, Value: value.Ratio, Bound: bound})
	}
	against("hot key allowed", best(f.allowed.one), 1.0)
	against("hot key allowed, 2 goroutines", best(f.allowed.two), 0.75)
	against("hot key refused", best(f.refused.one), 1.0)
	against("hot key refused, 2 goroutines", best(f.refused.two), 0.5)
	against("many keys", best(f.many.one), 0.6)
	against("many keys, 2 goroutines", best(f.many.two), 0.55)
	against("many keys, of those that compare keys", bestExact(f.many.one), 0.6)
	against("many keys, 2 goroutines, of those that compare keys", bestExact(f.many.two), 0.55)
	against("insert, of those that compare keys", bestExact(f.inserts), 0.8)
	return append(targets,
		duel.Target{What: "heap, B a key", Value: f.weights[0].bytes, Bound: 40},
		duel.Target{What: "longest check while all keys run out / while none does", Value: f.stalls[0].sweeps / f.stalls[0].rests, Bound: 2},
		duel.Target{What: "full GC, ms more", Value: milliseconds(f.weights[0].more), Bound: 3},
		duel.Target{What: "Limiter.Take / the store alone, allowed", Value: limited(f.allowed.one), Bound: 1.35},
		duel.Target{What: "Limiter.Take / the store alone, refused", Value: limited(f.refused.one), Bound: 1.35},
		duel.Target{What: "Limiter.Take, allocs", Value: f.allowed.one[1].Allocs, Bound: 0.005},
	)
}

// limited is what a whole limiter takes over its store, round by round.
func limited(rows []duel.Row) float64 {
	return duel.Quantile(duel.Ratios(rows[1].Rounds, rows[0].Rounds), 0.5)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
