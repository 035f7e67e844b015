package web

import (
	"fmt"
	"net/http"
	"runtime"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
)

// added is what a contender costs beyond the bare handler of its framework.
type added struct {
	contender

	rounds        []float64 // ns, one for each round
	allocs, bytes float64
}

func (a added) ns() float64 { return duel.Quantile(a.rounds, 0.5) }

// times is what this one adds over what another adds, as a median over the
// rounds. It is 1 of itself.
func (a added) times(other added) float64 {
	return duel.Quantile(duel.Ratios(a.rounds, other.rounds), 0.5)
}

// heap is what a service may hold beside its limiter, in bytes. In a process
// that holds nothing the collector would run every 4 MiB, and most of what an
// allocation costs would be its start and its end.
const heap = 64 << 20

// race measures all contenders and the bare handlers in the same rounds.
func race(o duel.Options, count, want int) ([]added, error) {
	ctx, end := requestContext()
	defer end()
	var running []duel.Candidate
	at := map[string]int{}
	enter := func(name string, h http.Handler, want int) error {
		c := newClient(ctx, h)
		c.send() // Under a limit of one, the only one that is allowed.
		if got := c.send(); got != want {
			return fmt.Errorf("%s answers %d, not %d", name, got, want)
		}
		at[name] = len(running)
		running = append(running, duel.Candidate{Name: name, Run: func(n int) {
			for range n {
				c.send()
			}
		}})
		return nil
	}
	all := contenders()
	for _, c := range all {
		h, err := c.build(count)
		if err != nil {
			return nil, err
		}
		if err := enter(c.name, h, want); err != nil {
			return nil, err
		}
	}
	for _, b := range bares() {
		if err := enter(b.framework, b.handler, http.StatusOK); err != nil {
			return nil, err
		}
	}
	held := make([]byte, heap)
	rows := duel.Race(o, running...)
	runtime.KeepAlive(held)
	results := make([]added, len(all))
	for i, c := range all {
		row, bare := rows[at[c.name]], rows[at[c.framework]]
		results[i] = added{contender: c, allocs: row.Allocs - bare.Allocs, bytes: row.Bytes - bare.Bytes}
		for j := range row.Rounds {
			results[i].rounds = append(results[i].rounds, row.Rounds[j]-bare.Rounds[j])
		}
	}
	return results, nil
}
