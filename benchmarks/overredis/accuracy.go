package overredis

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tierlimit/tierlimit/internal/redistest"
)

var (
	// crowd is judged by while many ask at once.
	crowd = limit{burst: 100, period: time.Hour}
	// edge is one second's worth, 50, for what is admitted around the end of a
	// window.
	edge = limit{burst: 50, period: 20 * time.Millisecond}
	// refill is emptied and looked at again 1.1 s later, when 11 are due.
	refill = limit{burst: 19, period: 100 * time.Millisecond}
)

// finding is what a contender admitted where that can be compared with what it
// should.
type finding struct {
	name     string
	admitted int // of crowd, which is 100
	errors   int
	worst    int // in any second, of edge, which is 50 a second

	// refilled is what was admitted of refill, due what should be by then; -1 for
	// fixed windows and logs, which do not refill little by little.
	refilled, due int
}

// accuracy asks all at the same time: most of it is waiting.
func accuracy(tb testing.TB, server *redistest.Server) []finding {
	tb.Helper()
	contenders := append(all(), contender{nameFixedWindow, openFixedWindow}, contender{nameSlidingLog, openSlidingLog})
	findings := make([]finding, len(contenders))
	var running sync.WaitGroup
	ctx := tb.Context()
	for i, c := range contenders {
		f := &findings[i]
		f.name = c.name
		at := place{server: server}
		f.admitted, f.errors = rush(ctx, c.open(tb, at, crowd), "crowd "+c.name)
		atEdge := c.open(tb, at, edge)
		running.Go(func() { f.worst = worst(ctx, atEdge, "edge "+c.name) })
		if c.name == nameUlule || c.name == nameFixedWindow || c.name == nameSlidingLog {
			f.refilled, f.due = -1, -1
			continue
		}
		refilling := c.open(tb, at, refill)
		running.Go(func() { f.refilled, f.due = refilled(ctx, refilling, "refill "+c.name) })
	}
	running.Wait()
	return findings
}

// rush asks 640 times for one caller, from 64 goroutines.
func rush(ctx context.Context, ask check, id string) (admitted, errors int) {
	const workers, each = 64, 10
	var allowed, failed atomic.Int64
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for range each {
				ok, err := ask(ctx, id)
				if ok {
					allowed.Add(1)
				}
				if err != nil {
					failed.Add(1)
				}
			}
		})
	}
	running.Wait()
	return int(allowed.Load()), int(failed.Load())
}

// worst begins a window with one check, asks without a pause from shortly
// before its end until shortly after, and gives the most that was admitted in
// any one window's length. It begins as the clock's windows do, for those whose
// windows do not begin with the first check.
func worst(ctx context.Context, ask check, id string) int {
	window := edge.window()
	// Redis has its own clock.
	time.Sleep(time.Until(time.Now().Truncate(window).Add(window)))
	began := time.Now()
	_, _ = ask(ctx, id) // Who failed here admits less later.
	// Until shortly before the window's end, by Redis's clock.
	time.Sleep(window * 8 / 10)
	var times []time.Duration
	for time.Since(began) < window*13/10 {
		if ok, _ := ask(ctx, id); ok {
			times = append(times, time.Since(began))
		}
	}
	most, from := 0, 0
	for i, at := range times {
		for at-times[from] >= window {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}

// refilled empties a bucket, waits, and gives what it admits then and what is
// due by then.
func refilled(ctx context.Context, ask check, id string) (admitted, due int) {
	began := time.Now()
	for range refill.burst {
		_, _ = ask(ctx, id)
	}
	// Redis has its own clock.
	time.Sleep(time.Until(began.Add(1100 * time.Millisecond)))
	for range 2 * refill.burst {
		if ok, _ := ask(ctx, id); ok {
			admitted++
		}
	}
	return admitted, int(time.Since(began) / refill.period)
}
