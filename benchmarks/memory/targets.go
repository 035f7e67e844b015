package memory

import (
	"time"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
	"github.com/tierlimit/tierlimit/benchmarks/rival"
)

// targets are what the library promises of its memory store.
func (f findings) targets() []duel.Target {
	var targets []duel.Target
	// Each promise is of the store asked as any other, and shown beside it is the
	// store as a limiter asks it.
	against := func(what string, rows []duel.Row, theirs duel.Row, bound float64) {
		for _, own := range []struct {
			at   int
			name string
		}{{rival.AtStore, ""}, {rival.AtPrepared, ", prepared"}} {
			targets = append(targets, duel.Target{
				What: what + own.name + " / " + theirs.Name, Value: over(rows[own.at], theirs), Bound: bound,
			})
		}
	}
	against("hot key allowed", f.allowed.one, best(f.allowed.one), 1.0)
	against("hot key allowed, 2 goroutines", f.allowed.two, best(f.allowed.two), 0.75)
	against("hot key refused", f.refused.one, best(f.refused.one), 1.0)
	against("hot key refused, 2 goroutines", f.refused.two, best(f.refused.two), 0.5)
	against("many keys", f.many.one, best(f.many.one), 0.6)
	against("many keys, 2 goroutines", f.many.two, best(f.many.two), 0.55)
	against("many keys, of those that compare keys", f.many.one, bestExact(f.many.one), 0.6)
	against("many keys, 2 goroutines, of those that compare keys", f.many.two, bestExact(f.many.two), 0.55)
	against("insert, of those that compare keys", f.inserts, bestExact(f.inserts), 0.8)
	weight, stall := f.weights[rival.AtStore], f.stalls[rival.AtStore]
	return append(targets,
		duel.Target{What: "heap, B a key", Value: weight.bytes, Bound: 40},
		duel.Target{What: "longest check while all keys run out / while none does", Value: stall.sweeps / stall.rests, Bound: 2},
		duel.Target{What: "full GC, ms more", Value: milliseconds(weight.more), Bound: 3},
		duel.Target{What: "Limiter.Take / the store alone, allowed", Value: limited(f.allowed.one, rival.AtStore), Bound: 1.35},
		duel.Target{What: "Limiter.Take / the store alone, refused", Value: limited(f.refused.one, rival.AtStore), Bound: 1.35},
		duel.Target{What: "Limiter.Take / the store alone, prepared, allowed", Value: limited(f.allowed.one, rival.AtPrepared), Bound: 1.35},
		duel.Target{What: "Limiter.Take / the store alone, prepared, refused", Value: limited(f.refused.one, rival.AtPrepared), Bound: 1.35},
		duel.Target{What: "Limiter.Take, allocs", Value: f.allowed.one[rival.AtLimiter].Allocs, Bound: 0.005},
	)
}

// limited is what a whole limiter takes over its store, asked one way or the other.
func limited(rows []duel.Row, store int) float64 { return over(rows[rival.AtLimiter], rows[store]) }

// over is a's time over b's in the same round, as a median over the rounds.
func over(a, b duel.Row) float64 { return duel.Quantile(duel.Ratios(a.Rounds, b.Rounds), 0.5) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
