package redisstore_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// openLoop sends checks at a rate, whatever becomes of them.
type openLoop struct {
	running    sync.WaitGroup
	goroutines int // at most

	mu     sync.Mutex
	took   []time.Duration
	late   []time.Duration // how late the machine wakes who wants to be woken
	errors map[error]int
}

var kindsOfErrors = []error{
	redisstore.ErrTimeout, redisstore.ErrUnreachable, redisstore.ErrRefused, redisstore.ErrBusy, redisstore.ErrPaused, redisstore.ErrReply,
}

func (l *openLoop) note(took time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took = append(l.took, took)
	for _, kind := range kindsOfErrors {
		if errors.Is(err, kind) {
			l.errors[kind]++
		}
	}
}

// send asks s so many times a second for so long.
func send(t *testing.T, perSecond int, span time.Duration, check func(i int) error) *openLoop {
	t.Helper()
	l := &openLoop{errors: map[error]int{}}
	began, last := time.Now(), time.Now()
	for sent := 0; time.Since(began) < span; {
		for ; sent < int(time.Since(began).Seconds()*float64(perSecond)); sent++ {
			i := sent
			l.running.Go(func() {
				began := time.Now()
				err := check(i)
				l.note(time.Since(began), err)
			})
		}
		l.goroutines = max(l.goroutines, runtime.NumGoroutine())
		time.Sleep(time.Millisecond) //nolint:forbidigo // the load has a rate, and a real server
		l.late = append(l.late, time.Since(last)-time.Millisecond)
		last = time.Now()
	}
	l.running.Wait()
	slices.Sort(l.took)
	slices.Sort(l.late)
	return l
}

func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[min(int(float64(len(sorted))*q), len(sorted)-1)]
}

// prompt requires that all were answered within most, as far as the machine can.
func (l *openLoop) prompt(t *testing.T, name string, most time.Duration) {
	t.Helper()
	noise := quantile(l.late, 0.99)
	t.Logf("%s: %d checks, p50 %v, p99 %v, max %v; at most %d goroutines; %v; the machine itself is late by p99 %v, max %v",
		name, len(l.took), quantile(l.took, 0.5), quantile(l.took, 0.99), l.took[len(l.took)-1], l.goroutines, l.errors, noise, l.late[len(l.late)-1])
	require.LessOrEqual(t, quantile(l.took, 0.99), most+min(3*noise, most), name)
	require.Less(t, quantile(l.took, 0.5), 5*time.Millisecond+min(3*noise, most/2), "%s: the breaker opens, and a check costs nothing", name)
}

// recovers requires that checks are answered again, one after the other, soon
// after Redis is back.
func (l *openLoop) recovers(t *testing.T, name string, check func(i int) error) {
	t.Helper()
	woke, row := time.Now(), 0
	var well time.Time
	redistest.Wait(t, 5*time.Second, "checks to be answered", func() error {
		if err := check(1<<20 + row); err != nil {
			row = 0
			return err
		}
		if row == 0 {
			well = time.Now()
		}
		row++
		if row < 20 {
			return fmt.Errorf("%d in a row", row)
		}
		return nil
	})
	noise := quantile(l.late, 0.99)
	t.Logf("%s: well again after %v", name, well.Sub(woke))
	require.Less(t, well.Sub(woke), 500*time.Millisecond+min(5*noise, 500*time.Millisecond), name)
}

// waiting is how many checks the machine may have begun too late to run yet.
func (l *openLoop) waiting() int { return int(l.late[len(l.late)-1].Seconds() * float64(rate())) }

// rate is what the machine can send while every access is watched.
func rate() int {
	if raceDetector {
		return 1500
	}
	return 5000
}
