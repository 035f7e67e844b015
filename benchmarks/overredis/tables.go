package overredis

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"testing"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
	"github.com/tierlimit/tierlimit/internal/redistest"
)

// Tables measures and prints all there is, the targets last.
func Tables(o duel.Options, w io.Writer) error {
	r := &report{w: w, options: o, callers: 10_000, turn: 5000}
	if o.Quick {
		r.callers, r.turn = 200, 200
	}
	err := onStage(r.print)
	if errors.Is(err, errSkipped) {
		_, err = fmt.Fprintf(w, "Nothing was measured over Redis: %v.\n\n", err)
	}
	if err != nil {
		return fmt.Errorf("overredis: %w", err)
	}
	return nil
}

// report prints one table after the other.
type report struct {
	w             io.Writer
	options       duel.Options
	callers, turn int
	promises      promises
}

func (r *report) print(tb testing.TB) {
	tb.Helper()
	server := redistest.Start(tb)
	habits := &duel.Table{Head: []string{"what a check takes, one at a time", "checks", "round trips", "commands", "called by scripts"}}
	for _, s := range []scenario{r.allowed(), r.refused()} {
		players := newPlayers(tb, server, s)
		for _, p := range players {
			habits.Add(p.name, s.name, duel.Number(p.habit.trips), duel.Number(p.habit.sent), duel.Number(p.habit.called))
		}
		for _, workers := range []int{1, 64, 256} {
			scores := s.race(tb, r.options, server, players, workers)
			r.table(tb, scoreTable(s, workers, scores))
			if workers > 1 {
				r.promises.common(s, workers, scores)
			}
		}
	}
	r.table(tb, habits)
	for _, s := range []struct {
		scenario

		bound float64
	}{{r.hot(), 5}, {r.flood(), 20}} {
		const workers = 256
		scores := s.race(tb, r.options, server, newPlayers(tb, server, s.scenario), workers)
		r.table(tb, scoreTable(s.scenario, workers, scores))
		r.promises.faster(s.scenario, workers, scores, s.bound)
	}
	r.table(tb, findingTable(accuracy(tb, server)))
	if err := duel.WriteTargets(r.w, r.promises); err != nil {
		tb.Fatal(err)
	}
}

func (r *report) table(tb testing.TB, t *duel.Table) {
	tb.Helper()
	if err := t.Write(r.w); err != nil {
		tb.Fatal(err)
	}
}

func scoreTable(s scenario, workers int, scores []score) *duel.Table {
	title := fmt.Sprintf("%s, callers: %d, goroutines: %d", s.name, s.callers, workers)
	t := &duel.Table{Head: []string{
		title, "checks/s", "ours / theirs", "server µs", "ours / theirs", "its processor µs", "commands", "client allocs", "faults",
	}}
	for _, s := range scores {
		t.Add(s.Name, duel.Number(s.perSecond()), duel.Ratio(scores[0].faster(s)),
			duel.Number(s.median(usec)), known(scores[0].cheaper(s)), duel.Number(s.median(cpu)),
			duel.Number(s.median(calls)), duel.Number(s.Allocs), duel.Number(100*s.faulty)+" %")
	}
	return t
}

// known is empty where neither of two cost the server anything.
func known(ratio float64) string {
	if math.IsNaN(ratio) {
		return ""
	}
	return duel.Ratio(ratio)
}

func findingTable(all []finding) *duel.Table {
	t := &duel.Table{Head: []string{
		"accuracy", "admitted of 100, 64 at once", "errors of 640", "most in a second, of 50 a second", "refilled after 1.1 s", "due",
	}}
	for _, f := range all {
		refilled, due := strconv.Itoa(f.refilled), strconv.Itoa(f.due)
		if f.due < 0 {
			refilled, due = "", ""
		}
		t.Add(f.name, strconv.Itoa(f.admitted), strconv.Itoa(f.errors), strconv.Itoa(f.worst), refilled, due)
	}
	return t
}
