package redisstore_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// followsSlots moves slots with and without keys to another master, under load.
func followsSlots(t *testing.T, cluster *redistest.Cluster) {
	t.Helper()
	s := open(t, rueidis.ClientOption{InitAddress: cluster.Addrs()})
	ready(t, s)
	sets := endless()
	sets["all"] = core.Per(1<<20, eon).And(core.Per(1<<20, eon).Using(core.SlidingLog)).And(core.Per(1<<20, eon).Using(core.FixedWindow)).Limits()
	names := []string{"lone", "two", "fixed", "log", "all"}
	seen := failures{}
	load := run(t, 20, func(worker, i int) error {
		_, err := s.Take(t.Context(), core.Request{Key: user((worker*31 + i) % 400), Limits: sets[names[i%5]], Cost: 1})
		return err
	}, seen.note)
	key := s.RedisKey(user(7), sets["two"])
	redistest.Wait(t, time.Minute, "slots to move without a failure", func() error { // a busy machine is late now and then
		before := seen.counts()
		cluster.MigrateSlots(t, cluster.Node(0), cluster.Node(1), 100)
		from := cluster.MasterOf(t, key)
		to := cluster.Node(2)
		if from == to {
			to = cluster.Node(1)
		}
		cluster.MigrateSlot(t, redistest.Slot(key), from, to)
		cluster.WaitOK(t)
		late := seen.since(before)
		if len(late) > 0 {
			return fmt.Errorf("%v", late)
		}
		return nil
	})
	load.stop()
	t.Logf("%d answered, %v", load.answered.Load(), seen.counts())
	kinds := slices.Collect(maps.Keys(seen.counts()))
	require.Subset(t, []string{redisstore.ErrTimeout.Error(), redisstore.ErrPaused.Error()}, kinds, "nothing is refused")
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
