package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

func TestACluster(t *testing.T) { //nolint:tparallel // its parts change one cluster, one after the other
	t.Parallel()
	if testing.Short() {
		t.Skip("takes 20 s")
	}
	cluster := redistest.StartCluster(t)
	t.Run("spread", func(t *testing.T) { spreads(t, cluster) })
	t.Run("scripts flushed", func(t *testing.T) { survivesFlushes(t, cluster) })
	t.Run("slots moved", func(t *testing.T) { followsSlots(t, cluster) })
	t.Run("a slot half moved", func(t *testing.T) { waitsForKeys(t, cluster) })
	t.Run("master killed", func(t *testing.T) { failsOver(t, cluster) })
}

// spreads asks for 1,000 users with two windows.
func spreads(t *testing.T, cluster *redistest.Cluster) {
	t.Helper()
	s := anyRedis{cluster.Client(t), true}.store()
	var monitors []*redistest.Monitor
	for i := range 3 {
		monitors = append(monitors, cluster.Node(i).Monitor(t))
	}
	sets := [][]core.Limit{endless()["two"], eonSets()["all"]}
	together(8, func(worker int) {
		for i := worker; i < 1000; i += 8 {
			res, err := s.Take(t.Context(), core.Request{Key: user(i), Limits: sets[i%2], Cost: 1})
			assert.True(t, err == nil && res.Allowed, "%v", err)
		}
	})
	for i, monitor := range monitors {
		requireDeclared(t, monitor.Stop(t))
		require.Greater(t, len(cluster.Node(i).Keys(t, "trt:*")), 300, "1,000 users, half of them with three keys, and three nodes")
	}
}

func survivesFlushes(t *testing.T, cluster *redistest.Cluster) {
	t.Helper()
	s := anyRedis{cluster.Client(t), true}.store(redisstore.WithPrefix("flush:"))
	limits := endless()["two"]
	load := run(t, 20, func(worker, i int) error {
		_, err := s.Take(t.Context(), core.Request{Key: user((worker + i) % 30), Limits: limits, Cost: 1})
		return err
	}, func(err error) { assert.NoError(t, err) })
	for i := range 21 {
		cluster.Node(i%3).Do(t, "SCRIPT", "FLUSH")
	}
	load.stop()
	charged := 0
	for i := range 30 {
		charged += limits[0].Burst - look(t, s, user(i), limits).Levels[0].Remaining
	}
	require.EqualValues(t, load.answered.Load(), charged)
}

// followsSlots moves slots with and without keys to another master, under load.
func followsSlots(t *testing.T, cluster *redistest.Cluster) {
	t.Helper()
	s := redisstore.New(cluster.Client(t), redisstore.WithTimeout(2*time.Second))
	sets := endless()
	sets["all"] = core.Per(1<<20, eon).And(core.Per(1<<20, eon).Using(core.SlidingLog)).And(core.Per(1<<20, eon).Using(core.FixedWindow)).Limits()
	names := []string{"lone", "two", "fixed", "log", "all"}
	seen := errorCounts{}
	load := run(t, 20, func(worker, i int) error {
		_, err := s.Take(t.Context(), core.Request{Key: user((worker*31 + i) % 400), Limits: sets[names[i%5]], Cost: 1})
		return err
	}, seen.note)
	cluster.MigrateSlots(t, cluster.Node(0), cluster.Node(1), 200)
	key := s.RedisKey(user(7), sets["two"])
	from := cluster.MasterOf(t, key)
	to := cluster.Node(2)
	if from == to {
		to = cluster.Node(1)
	}
	cluster.MigrateSlot(t, redistest.Slot(key), from, to)
	cluster.WaitOK(t)
	load.stop()
	t.Logf("%d answered", load.answered.Load())
	require.Empty(t, seen.counts())
}

// waitsForKeys asks for several keys while one of them is not where the others
// are. Redis does nothing then and says TRYAGAIN.
func waitsForKeys(t *testing.T, cluster *redistest.Cluster) {
	t.Helper()
	s := anyRedis{cluster.Client(t), true}.store()
	limits := endless()["lone"]
	limits = append(limits, endless()["log"]...)
	charge(t, s, user(1), limits, 3)
	main := s.RedisKey(user(1), limits)
	from, slot := cluster.MasterOf(t, main), redistest.Slot(main)
	to := cluster.Node(0)
	if from == to {
		to = cluster.Node(1)
	}
	to.Do(t, "CLUSTER", "SETSLOT", slot, "IMPORTING", from.Do(t, "CLUSTER", "MYID"))
	from.Do(t, "CLUSTER", "SETSLOT", slot, "MIGRATING", to.Do(t, "CLUSTER", "MYID"))
	from.Do(t, "MIGRATE", "127.0.0.1", to.Port(), main, 0, 5000)

	failed := make(chan error)
	go func() {
		_, err := s.Take(t.Context(), core.Request{Key: user(1), Limits: limits, Cost: 1})
		failed <- err
	}()
	select {
	case err := <-failed:
		require.NoError(t, err)
		require.Fail(t, "it cannot be answered yet")
	case <-time.After(50 * time.Millisecond):
	}
	cluster.MigrateSlot(t, slot, from, to)
	cluster.WaitOK(t)
	require.NoError(t, <-failed)
	require.Equal(t, 4, limits[0].Burst-look(t, s, user(1), limits).Levels[0].Remaining, "once")
}

// failsOver kills a master and wants errors only until the servers have elected
// another.
func failsOver(t *testing.T, cluster *redistest.Cluster) {
	t.Helper()
	s := redisstore.New(cluster.Client(t), redisstore.WithTimeout(time.Second))
	seen := errorCounts{}
	load := run(t, 20, func(worker, i int) error {
		_, err := s.Take(t.Context(), core.Request{Key: user((worker*31 + i) % 400), Limits: plenty, Cost: 1})
		if err != nil {
			<-time.After(time.Millisecond) // as many as a server has requests, not as many as it can refuse
		}
		return err
	}, seen.note)
	key := s.RedisKey(user(1), plenty)
	master := cluster.MasterOf(t, key)
	began := time.Now()
	master.Kill(t)
	cluster.WaitFailover(t, key, master)
	elected := time.Since(began)
	redistest.Wait(t, patient, "all users to be answered", func() error {
		for i := range 400 {
			if _, err := s.Take(t.Context(), core.Request{Key: user(i), Limits: plenty, Cost: 1}); err != nil {
				return err
			}
		}
		return nil
	})
	well := time.Since(began)
	during := seen.counts()
	seen.waitForPeace(t)
	load.stop()
	t.Logf("elected after %v, well after %v; meanwhile %v", elected, well, during)
	require.Less(t, well-elected, 3*time.Second)
	redistest.Wait(t, patient, "all ranges to be closed", func() error {
		if s.State() != redisstore.StateClosed {
			return errors.New(s.State().String())
		}
		return nil
	})
}

// errorCounts counts errors by their kind, for any goroutine.
type errorCounts struct {
	mu     sync.Mutex
	byKind map[string]int
}

func (c *errorCounts) note(err error) {
	if err == nil {
		return
	}
	kind := err.Error()
	for _, known := range []error{redisstore.ErrTimeout, redisstore.ErrUnreachable, redisstore.ErrPaused, redisstore.ErrBusy} {
		if errors.Is(err, known) {
			kind = known.Error()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKind == nil {
		c.byKind = map[string]int{}
	}
	c.byKind[kind]++
}

func (c *errorCounts) counts() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.byKind)
}

// waitForPeace returns when nothing has failed for 300 ms: a busy machine may
// still be late now and then.
func (c *errorCounts) waitForPeace(t *testing.T) {
	t.Helper()
	redistest.Wait(t, patient, "errors to end", func() error {
		c.mu.Lock()
		c.byKind = nil
		c.mu.Unlock()
		<-time.After(300 * time.Millisecond)
		if counts := c.counts(); len(counts) > 0 {
			return fmt.Errorf("%v", counts)
		}
		return nil
	})
}

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
