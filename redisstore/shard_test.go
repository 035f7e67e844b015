package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// TestAFrozenShardDoesNotStopTheOthers wants no full coverage of the cluster,
// and no replica that takes over.
func TestAFrozenShardDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes 6 s")
	}
	cluster := redistest.StartCluster(t, redistest.WithConfig("cluster-require-full-coverage no", "cluster-replica-no-failover yes"))
	s := redisstore.New(cluster.Client(t))
	frozen := cluster.Node(0)
	var there, gone []core.Key
	for i := range 300 {
		if redistest.Slot(s.RedisKey(user(i), plenty)) < redistest.Slots/3 { // which the first node has from the start
			gone = append(gone, user(i))
		} else {
			there = append(there, user(i))
		}
	}
	check := func(key core.Key) error {
		_, err := s.Take(context.Background(), core.Request{Key: key, Limits: plenty, Cost: 1}) //nolint:usetesting // without a deadline
		return err
	}
	for _, key := range append(gone, there...) {
		redistest.Wait(t, patient, "an answer", func() error { return check(key) })
	}
	frozen.Freeze(t)
	var ok, failed, paused, answered atomic.Int64
	began := time.Now()
	load := run(t, 8, func(worker, i int) error {
		if worker%2 == 0 {
			err := check(gone[(worker*37+i)%len(gone)])
			if errors.Is(err, redisstore.ErrPaused) {
				paused.Add(1)
			} else if err == nil {
				answered.Add(1)
			}
			<-time.After(time.Millisecond)
			return nil
		}
		return check(there[(worker*37+i)%len(there)])
	}, func(err error) {
		if err == nil {
			ok.Add(1)
		} else {
			failed.Add(1)
		}
	})
	redistest.Wait(t, patient, "all ranges of the frozen shard to open", func() error {
		if n := paused.Load(); n < 200 || time.Since(began) < 2*time.Second {
			return fmt.Errorf("%d paused", n)
		}
		return nil
	})
	require.Equal(t, redisstore.StateOpen, max(s.State(), redisstore.StateHalfOpen), "the worst of the ranges")
	load.stop()
	t.Logf("%d answered by the others, %d failed; %d of the frozen one's paused", ok.Load(), failed.Load(), paused.Load())
	require.LessOrEqual(t, failed.Load(), ok.Load()/100, "what is well goes on")
	require.Zero(t, answered.Load())
	frozen.Thaw(t)
	redistest.Wait(t, patient, "the shard to be back", func() error {
		for _, key := range gone {
			if err := check(key); err != nil {
				return err
			}
		}
		return nil
	})
}
