package accuracy

import (
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
	"github.com/tierlimit/tierlimit/benchmarks/rival"
)

// note is what the columns are measured by.
const note = `Exact is at most 100 within the length of one window, wherever it begins, and a million for the 64 goroutines that ask at once.
By their own definition GCRA and token buckets admit 120 across the edge and 200 over two edges, a burst and what has come back
meanwhile, and fixed windows up to 200 in both. *Failed* are checks that ended in an error. For the *sweep* a million keys run out, and
two goroutines ask for each of them while they are dropped: *live again* are admissions of keys that were at their limit, *expired* are
admissions of the others beyond one each, or short of it.

`

// row is what was counted of one contender.
type row struct {
	burst, edge, hammer, crowd, failed int
	swept                              swept
}

// Tables counts and prints.
func Tables(o duel.Options, w io.Writer) error {
	million, second, long := 1_000_000, time.Second, 8*time.Second
	if o.Quick {
		million, second, long = 10_000, 100*time.Millisecond, 200*time.Millisecond
	}
	all := contenders()
	rows := make([]row, len(all))
	var waiting sync.WaitGroup
	for i, c := range all { // they wait most of the time
		waiting.Go(func() { rows[i].edge = edge(c, second) })
	}
	waiting.Wait()
	for i, c := range all {
		rows[i].burst = burst(c)
		rows[i].crowd, rows[i].failed = crowd(c, million)
		rows[i].hammer = hammer(c, second/2)
		rows[i].swept = sweep(c, million, long)
	}
	t := table(all, rows, million)
	if err := t.Write(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, note)
	return err
}

func table(all []rival.Contender, rows []row, million int) duel.Table {
	t := duel.Table{Head: []string{
		"admitted", "burst", "across an edge", "64 goroutines over two edges", "64 goroutines at once", "failed",
		"sweep: live again", "sweep: expired",
	}}
	t.Add("exact", strconv.Itoa(limit), strconv.Itoa(limit), strconv.Itoa(limit), strconv.Itoa(million), "0", "0", "0")
	for i, c := range all {
		r := rows[i]
		live, expired := strconv.Itoa(r.swept.live), strconv.Itoa(r.swept.expired)
		switch {
		case r.swept.late:
			live, expired = "too slow to tell", "too slow to tell"
		case !c.Drops:
			live, expired = live+", never drops", expired+", never drops"
		}
		t.Add(c.Name, strconv.Itoa(r.burst), strconv.Itoa(r.edge), strconv.Itoa(r.hammer), strconv.Itoa(r.crowd), strconv.Itoa(r.failed), live, expired)
	}
	return t
}
