package memstore

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// TestHittersLoseNothingWhileTheirTableIsRebuilt: the table is moved without a
// pause, and neighbours of the same hash come and go, so that hitters meet
// frozen words all the time and go to the lock beside those that do not.
func TestHittersLoseNothingWhileTheirTableIsRebuilt(t *testing.T) { //nolint:paralleltest // needs the cores to itself
	const hitters, each, burst = 3, 250_000, 1 << 30
	s := New(WithMaxKeys(1000)) // one shard
	sh := &s.shards[0]
	limits := core.Per(1, time.Millisecond).WithBurst(burst).Limits()
	r := core.Request{Limits: limits, Cost: 1}
	hot := fingerprint{hash: 1023, extra: 1}

	var hitting, moving sync.WaitGroup
	var done atomic.Bool
	moved := 0 // charges of the one who moves the table
	moving.Go(func() {
		for i := uint64(0); !done.Load(); i++ {
			neighbour := fingerprint{hash: 1023 - i%2, extra: 2 + i%5}
			inCell(s, neighbour, &r)
			sh.mu.Lock()
			sh.rebuild(sh.table.Load())
			sh.mu.Unlock()
			for range 8 { // while those who met a frozen word are at the lock
				if inCell(s, hot, &r).Allowed {
					moved++
				}
			}
			s.resetCell(neighbour)
		}
	})
	for range hitters {
		hitting.Go(func() {
			for range each {
				if !inCell(s, hot, &r).Allowed {
					t.Error("refused")
					return
				}
			}
		})
	}
	hitting.Wait()
	done.Store(true)
	moving.Wait()
	look := core.Request{Limits: limits, Mode: core.Look}
	require.Equal(t, burst-hitters*each-moved, inCell(s, hot, &look).Levels[0].Remaining)
	require.Equal(t, 1, s.Len())
	_, word := sh.table.Load().find(hot)
	sh.check(t, map[fingerprint]uint64{hot: word})
}

// inCell does r to a lone GCRA window at noon.
func inCell(s *Store, f fingerprint, r *core.Request) (res core.Result) {
	s.takeCell(f, noon, r, &res)
	return res
}
