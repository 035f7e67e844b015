package chaostest_test

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// noise measures the machine while a test runs: how late a goroutine that
// sleeps a millisecond is woken, and how many goroutines there are.
type noise struct {
	ended   atomic.Bool
	running sync.WaitGroup

	latest atomic.Int64 // the most that late holds

	late       durations
	goroutines int // at most
}

func listen() *noise {
	n := &noise{}
	n.running.Go(func() {
		for !n.ended.Load() {
			began := time.Now()
			rest(time.Millisecond)
			late := time.Since(began) - time.Millisecond
			n.late = append(n.late, late)
			n.latest.Store(max(n.latest.Load(), int64(late)))
			n.goroutines = max(n.goroutines, runtime.NumGoroutine())
		}
	})
	return n
}

func (n *noise) stop() {
	n.ended.Store(true)
	n.running.Wait()
}

// calm tells whether the machine never stood still for long. Where it did,
// checks of a healthy Redis time out as well, which is right, and nothing that
// a test can ask for.
func (n *noise) calm() bool {
	return n.late.of(1) < 80*time.Millisecond && n.late.of(0.999) < 30*time.Millisecond
}

// calmUntilNow is calm while the test runs.
func (n *noise) calmUntilNow() bool { return n.latest.Load() < int64(80*time.Millisecond) }

// requireWithin asserts that something took no longer than it may. Where the
// machine stood still, all that can be told is whether it hung.
func (n *noise) requireWithin(t *testing.T, may, took time.Duration) {
	t.Helper()
	if !n.calm() {
		may += time.Second + 4*n.late.of(1)
	}
	require.LessOrEqual(t, took, may)
}

// tries is how often a scenario is played for one calm run.
const tries = 4

// calmly plays a scenario until the machine was calm meanwhile, so that its
// figures were asserted. What does not depend on the machine is asserted each
// time.
func calmly(t *testing.T, scenario func(t *testing.T) *noise) {
	t.Helper()
	for try := range tries {
		calm := false
		ok := t.Run(fmt.Sprint("try ", try+1), func(t *testing.T) {
			n := scenario(t)
			calm = n.calm()
			t.Logf("calm: %t, a sleeper is late by: %v", calm, n.late)
		})
		if calm || !ok {
			return
		}
	}
	noisy := fmt.Sprintf("the machine stood still in each of %d tries, so no figure was asserted", tries)
	if os.Getenv("TIERLIMIT_REDIS") == "required" && !raceDetector {
		require.Fail(t, noisy)
	}
	t.Skip(noisy)
}

// rest lets real time pass, in which servers do what they do.
func rest(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // real servers and real load run on real time
}
