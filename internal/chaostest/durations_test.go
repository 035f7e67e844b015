package chaostest_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// durations are how long things took.
type durations []time.Duration

// of is the p-th part in order: of(0.99) is not exceeded by 99 of 100.
func (d durations) of(p float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}

func (d durations) String() string {
	return fmt.Sprintf("%d calls, p50 %v, p99 %v, p99.9 %v, max %v", len(d),
		d.of(0.5).Round(time.Microsecond), d.of(0.99).Round(time.Microsecond),
		d.of(0.999).Round(time.Microsecond), d.of(1).Round(time.Microsecond))
}

// noise measures the machine while a test runs: how late a goroutine that
// sleeps a millisecond is woken, and how many goroutines there are.
type noise struct {
	ended   atomic.Bool
	running sync.WaitGroup

	late       durations
	goroutines int // at most
}

func listen() *noise {
	n := &noise{}
	n.running.Go(func() {
		for !n.ended.Load() {
			began := time.Now()
			rest(time.Millisecond)
			n.late = append(n.late, time.Since(began)-time.Millisecond)
			n.goroutines = max(n.goroutines, runtime.NumGoroutine())
		}
	})
	return n
}

func (n *noise) stop() {
	n.ended.Store(true)
	n.running.Wait()
}

// rest lets real time pass, in which servers do what they do.
func rest(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // real servers and real load run on real time
}
