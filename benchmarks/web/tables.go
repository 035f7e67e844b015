package web

import (
	"fmt"
	"io"
	"math"
	"net/http"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
)

const (
	// share is how much ours may add of what the best peer adds.
	share = 0.5
	// maxAllocs is how many allocations ours may add.
	maxAllocs = 4
)

// Tables measures and prints what each middleware adds, the targets last.
func Tables(o duel.Options, w io.Writer) error {
	var targets []duel.Target
	for _, scenario := range []struct {
		name        string
		count, want int
	}{
		{"allowed", plenty, http.StatusOK},
		{"refused", one, http.StatusTooManyRequests},
	} {
		results, err := race(o, scenario.count, scenario.want)
		if err != nil {
			return fmt.Errorf("web: %s: %w", scenario.name, err)
		}
		if err := table(scenario.name, results).Write(w); err != nil {
			return fmt.Errorf("web: %w", err)
		}
		targets = append(targets, judge(scenario.name, results)...)
	}
	if err := duel.WriteTargets(w, targets); err != nil {
		return fmt.Errorf("web: %w", err)
	}
	return nil
}

// table has a column for each of ours, with what it adds over what each of the
// others adds.
func table(scenario string, results []added) *duel.Table {
	t := &duel.Table{Head: []string{"what a middleware adds, " + scenario, "ns"}}
	for _, r := range results {
		if r.kind == ours {
			t.Head = append(t.Head, r.name+" / theirs")
		}
	}
	t.Head = append(t.Head, "allocs", "B")
	for _, r := range results {
		name := r.name
		if r.kind == silent {
			name += ", no headers"
		}
		cells := []string{name, duel.Number(r.ns())}
		for _, mine := range results {
			if mine.kind == ours {
				cells = append(cells, duel.Ratio(mine.times(r)))
			}
		}
		t.Add(append(cells, duel.Number(r.allocs), duel.Number(r.bytes))...)
	}
	return t
}

// judge holds each of ours against the peer that adds least, headers written.
func judge(scenario string, results []added) []duel.Target {
	var targets []duel.Target
	best := bestPeer(results)
	for _, r := range results {
		if r.kind != ours {
			continue
		}
		what := r.name + ", " + scenario + ": added "
		targets = append(targets,
			duel.Target{What: what + "ns / " + best.name, Value: r.times(best), Bound: share},
			// What the process allocates beside shows in the second digit.
			duel.Target{What: what + "allocs", Value: math.Round(10*r.allocs) / 10, Bound: maxAllocs})
	}
	return targets
}

func bestPeer(results []added) added {
	var best added
	for _, r := range results {
		if r.kind == peer && (best.name == "" || r.ns() < best.ns()) {
			best = r
		}
	}
	return best
}
