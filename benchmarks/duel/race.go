package duel

import (
	"math"
	"math/rand/v2"
	"runtime"
	"time"
)

// maxOperations bounds a slice, should a candidate cost next to nothing.
const maxOperations = 1 << 26

// Race runs the candidates by turns, and tells what each cost, in the order
// given. The first is ours, with which all are compared. Nothing else of the
// process should run meanwhile.
func Race(o Options, candidates ...Candidate) []Row {
	o = o.withDefaults()
	lanes := make([]lane, len(candidates))
	for i, c := range candidates {
		lanes[i] = lane{Candidate: c, n: c.N}
		if c.N <= 0 {
			lanes[i].n = calibrate(c, o.Slice)
		}
	}
	order := rand.New(rand.NewPCG(o.Seed, 0))
	runtime.GC() // what the calibration left behind is nobody's cost
	for range o.Rounds {
		for _, i := range order.Perm(len(lanes)) {
			lanes[i].run()
		}
	}
	rows := make([]Row, len(lanes))
	for i := range lanes {
		rows[i] = lanes[i].row(lanes[0].ns)
	}
	return rows
}

// lane is a candidate and what its slices have cost so far, per operation.
type lane struct {
	Candidate

	n                 int
	ns, allocs, bytes []float64
}

func (l *lane) run() {
	if l.Prepare != nil {
		l.Prepare(l.n)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	l.Run(l.n)
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	n := float64(l.n)
	l.ns = append(l.ns, float64(took.Nanoseconds())/n)
	l.allocs = append(l.allocs, float64(after.Mallocs-before.Mallocs)/n)
	l.bytes = append(l.bytes, float64(after.TotalAlloc-before.TotalAlloc)/n)
}

// calibrate finds how many operations take about slice. It also warms up.
func calibrate(c Candidate, slice time.Duration) int {
	for n := 1; ; n *= 4 {
		took := quickest(c, n)
		switch {
		case took >= slice/8: // long enough to be believed
			return max(1, int(min(float64(n)*float64(slice)/float64(took), maxOperations)))
		case n*4 > maxOperations:
			return n
		}
	}
}

// quickest is the shortest of a few runs: a goroutine that wakes up late would
// pass a candidate off as slow, and give it slices that are too short.
func quickest(c Candidate, n int) time.Duration {
	least := time.Duration(math.MaxInt64)
	for range 3 {
		if c.Prepare != nil {
			c.Prepare(n)
		}
		began := time.Now()
		c.Run(n)
		least = min(least, time.Since(began))
	}
	return least
}
