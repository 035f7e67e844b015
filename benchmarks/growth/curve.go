package growth

import (
	"runtime"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
	"github.com/tierlimit/tierlimit/benchmarks/plot"
	"github.com/tierlimit/tierlimit/core"
)

// curve is how a cost grows with a size.
type curve []step

// step is what was measured at one size.
type step struct {
	size   int
	ns     float64 // a check
	allocs float64
	bytes  float64 // of heap a key
}

// sizes are the powers of ten from 10^low to 10^high, two of them in a smoke run.
func sizes(o duel.Options, low, high int) []int {
	if o.Quick {
		high = min(high, low+1)
	}
	var of []int
	for n, d := 1, 0; d <= high; n, d = n*10, d+1 {
		if d >= low {
			of = append(of, n)
		}
	}
	return of
}

// race measures what the sizes cost, by turns.
func race(o duel.Options, sizes []int, bytes []float64, runs []func(n int)) curve {
	candidates := make([]duel.Candidate, len(runs))
	for i, run := range runs {
		candidates[i].Run = run
	}
	c := make(curve, len(runs))
	for i, r := range duel.Race(o, candidates...) {
		c[i] = step{size: sizes[i], ns: r.Ns, allocs: r.Allocs, bytes: bytes[i]}
	}
	return c
}

func (c curve) line(name string) plot.Line {
	l := plot.Line{Name: name}
	for _, s := range c {
		l.Points = append(l.Points, plot.Point{X: float64(s.size), Y: s.ns})
	}
	return l
}

// endless is one a window, and at once more than any race asks for.
func endless(q core.Quota) core.Quota { return q.WithBurst(1 << 26) }

// heap is the live heap in bytes.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
