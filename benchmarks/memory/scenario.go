package memory

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
	"github.com/tierlimit/tierlimit/benchmarks/rival"
)

// scenario is one question that is put to every contender.
type scenario struct {
	name  string
	limit rival.Limit
	known []string // every key was charged once before
	asked []string // what the checks ask for, in this order, again and again
}

func hot(name string, limit rival.Limit) scenario {
	known := inserted(1)
	return scenario{name: name, limit: limit, known: known, asked: []string{strings.Clone(known[0])}}
}

// result is a scenario's rows by one goroutine and by two, in the order of
// rival.All, and behind them the clock.
type result struct {
	scenario

	one, two []duel.Row
}

// large is from how many keys on a store takes too long to fill for one in every
// slice. It is filled anew in every third, and a slice has as many checks, since
// to find out how many take how long takes many more. What the store before
// leaves to the collector falls on a slice here and there, which a median does
// not see.
const (
	large       = 1000
	largeSlices = 3
	largeChecks = 1 << 14
)

// run races all contenders, each in stores of its own that both races use. They
// are new ones again and again: where in memory one happens to lie makes a fifth
// of a hot check, and may double one of a million keys.
func (s scenario) run(o duel.Options) result {
	var one, two []duel.Candidate
	checks, slices := 0, 1
	if len(s.known) >= large {
		checks, slices = largeChecks, largeSlices
	}
	enter := func(name string, check *rival.Check, prepare func(int)) {
		one = append(one, duel.Candidate{Name: name, N: checks, Prepare: prepare, Run: s.ask(check, 1)})
		two = append(two, duel.Candidate{Name: name, N: checks, Prepare: prepare, Run: s.ask(check, 2)})
	}
	for _, c := range rival.All() {
		check, stop := s.fill(c)
		defer func() { stop() }() //nolint:gocritic // All stay until the end, and prepare makes new ones.
		age := 0
		enter(c.Name, &check, func(int) {
			age++
			if age%slices == 0 {
				stop()
				check = nil
				check, stop = s.fill(c)
			}
		})
	}
	alone := clock(time.Now())
	enter("the clock alone", &alone, nil)
	return result{s, duel.Race(o, one...), duel.Race(o, two...)}
}

// fill opens a store that knows the known keys.
func (s scenario) fill(c rival.Contender) (check rival.Check, stop func()) {
	check, stop = c.Open(s.limit)
	for _, key := range s.known {
		_, _ = check(key)
	}
	return check, stop
}

// clock is the floor of every check, and tells how much of two cores two
// goroutines have had, since they share nothing in it.
func clock(base time.Time) rival.Check {
	return func(string) (bool, error) { return time.Since(base) >= 0, nil }
}

// ask has workers go through what is asked, each from a place of its own, and
// go on from there in the next slice, so that a large store is never warm.
// They begin together: one alone would have the key to itself.
func (s scenario) ask(check *rival.Check, workers int) func(n int) {
	next := make([]int, workers)
	for w := range next {
		next[w] = w * len(s.asked) / workers
	}
	work := func(w, n int) {
		at, check := next[w], *check
		for range n {
			_, _ = check(s.asked[at])
			at++
			if at == len(s.asked) {
				at = 0
			}
		}
		next[w] = at
	}
	return func(n int) {
		var ready atomic.Int32
		var working sync.WaitGroup
		begin := func(w int) {
			for ready.Add(1); ready.Load() < int32(workers); {
				runtime.Gosched()
			}
			work(w, n/workers)
		}
		for w := 1; w < workers; w++ {
			working.Go(func() { begin(w) })
		}
		begin(0)
		working.Wait()
	}
}

// best is the fastest rival. The clock, behind them all, is none.
func best(rows []duel.Row) duel.Row {
	return bestOf(rows, func(c rival.Contender) bool { return !c.Ours })
}

// bestExact is the fastest rival that compares keys: one that keeps a hash and
// nothing to compare it with has less to keep and to read.
func bestExact(rows []duel.Row) duel.Row {
	return bestOf(rows, func(c rival.Contender) bool { return !c.Ours && !c.Hashed })
}

func bestOf(rows []duel.Row, counts func(rival.Contender) bool) duel.Row {
	those := rows[:1:1]
	for i, c := range rival.All() {
		if counts(c) {
			those = append(those, rows[i])
		}
	}
	return duel.Best(those)
}

// table has the rows of both races side by side.
func (r result) table() duel.Table {
	t := duel.Table{Head: []string{
		r.name, "ns", "ours / theirs", "ns, 2 goroutines", "ours / theirs", "allocs", "B",
	}}
	for i, one := range r.one {
		two := r.two[i]
		t.Add(one.Name, duel.Number(one.Ns), ratio(one), duel.Number(two.Ns), ratio(two),
			duel.Number(one.Allocs), duel.Number(one.Bytes))
	}
	return t
}

// ratio is a row's ratio and, in brackets, its quartiles.
func ratio(r duel.Row) string {
	return duel.Ratio(r.Ratio) + " (" + duel.Ratio(r.Low) + " to " + duel.Ratio(r.High) + ")"
}
