package chaostest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// requireFailover asserts what holds for any failover. The new master may lack
// the last writes of the old one, which is a forgotten bucket at worst.
func (f *fleet) requireFailover(t *testing.T, o fault) {
	t.Helper()
	f.requireFew(t)
	all := f.waits(0, f.now())
	t.Logf("inside the store: %v", all)
	f.noise.requireWithin(t, deadline+f.slack(), all.of(0.999))
	f.requireAdmitted(t, o, 1)
	f.requireBack(t, o)
	for name := range f.errors {
		require.Contains(t, []string{"timeout", "unreachable", "paused", "busy", "refused"}, name)
	}
	for status := range f.statuses {
		require.Contains(t, []int{200, 429}, status, "nobody is told of it")
	}
	for i := range f.redis {
		require.Equal(t, redisstore.StateClosed, f.redis[i].State(), "no breaker is open any more")
	}
}

// requireProbes asserts that no breaker was open for longer than its cool-down:
// under load there is always one who asks when that is over.
func (f *fleet) requireProbes(t *testing.T) {
	t.Helper()
	const longest = 250 * time.Millisecond // 200 ms, give or take a quarter
	for i, tried := range f.tried {
		slices.SortFunc(tried, func(a, b attempt) int { return int(a.began - b.began) })
		var ended, most time.Duration
		for _, a := range tried {
			if ended > 0 {
				most = max(most, a.began-ended)
			}
			ended = max(ended, a.ended)
		}
		t.Logf("instance %d asked Redis %d times, with at most %v in between", i, len(tried), most.Round(time.Millisecond))
		f.noise.requireWithin(t, longest+50*time.Millisecond+f.noise.late.of(1), most)
	}
}

// passed is what the bulk users among keys were charged by each store.
func (f *fleet) passed(keys []core.Key, lasts time.Duration) (shared, local int) {
	before := f.snapshot()
	rest(lasts)
	after := f.snapshot()
	for _, key := range keys {
		shared += after[key].shared.n - before[key].shared.n
		local += after[key].local.n - before[key].local.n
	}
	return shared, local
}

// forget empties the script caches of servers in turn, which nobody notices.
func (f *fleet) forget(t *testing.T, servers ...*redistest.Server) {
	t.Helper()
	for _, s := range servers {
		s.Do(t, "script", "flush")
		rest(30 * time.Millisecond)
	}
	if errors := f.failed(0, f.now()); f.noise.calmUntilNow() {
		require.Empty(t, errors)
	}
}

// bulkKeys are the bulk users', two in one shard of a Cluster of three and two in
// another.
func bulkKeys() []core.Key {
	var keys []core.Key
	for i := range callers[2].users {
		keys = append(keys, core.Key{Tier: "bulk", ID: user("bulk", i)})
	}
	return keys
}

func TestSentinelsFailOver(t *testing.T) { //nolint:tparallel // tries come one after another
	t.Parallel()
	if testing.Short() {
		t.Skip("Sentinels take their time")
	}
	s := redistest.StartSentinel(t)
	calmly(t, func(t *testing.T) *noise {
		t.Helper()
		f := serve(t, s.ClientOption(), light)
		f.load(t)
		rest(warmUp)
		old := s.Master(t)
		f.forget(t, append(s.Replicas(t), old)...)
		o := f.suffer(t, 0, func() {
			old.Kill(t)
			rest(2 * deadline)
			// The Sentinels wait a second before they do anything.
			shared, local := f.passed(bulkKeys(), 600*time.Millisecond)
			t.Logf("meanwhile: %d units shared, %d locally", shared, local)
			require.Zero(t, shared)
			require.Greater(t, local, 60, "of 120")
			s.WaitFailover(t, old)
		}, func() {})
		f.requireFailover(t, o)
		f.requireProbes(t)
		old.Restart(t)
		s.WaitOK(t)
		return f.noise
	})
}

func TestAShardOfAClusterFailsOver(t *testing.T) { //nolint:tparallel // as above
	t.Parallel()
	if testing.Short() {
		t.Skip("a Cluster takes its time")
	}
	c := redistest.StartCluster(t)
	calmly(t, func(t *testing.T) *noise {
		t.Helper()
		f := serve(t, c.ClientOption(), light)
		f.load(t)
		rest(warmUp)
		f.forget(t, c.Nodes()...)

		limits := light.plans.Tiers["bulk"].Limits()
		name := func(key core.Key) string { return f.redis[0].RedisKey(key, limits) }
		dead := c.MasterOf(t, name(bulkKeys()[0]))
		var healthy, lost []core.Key
		for _, key := range bulkKeys() {
			if c.MasterOf(t, name(key)) == dead {
				lost = append(lost, key)
			} else {
				healthy = append(healthy, key)
			}
		}
		require.Len(t, lost, 2)
		require.Len(t, healthy, 2)
		o := f.suffer(t, 0, func() {
			dead.Kill(t)
			rest(2 * deadline)
			// The Cluster as a whole is well for 2 s yet, so the other shards serve on.
			wait := make(chan [2]int, 1)
			go func() {
				shared, local := f.passed(lost, time.Second)
				wait <- [2]int{shared, local}
			}()
			shared, local := f.passed(healthy, time.Second)
			t.Logf("of other shards: %d units shared, %d locally", shared, local)
			require.Greater(t, shared, 4*local)
			gone := <-wait
			t.Logf("of the dead shard: %d units shared, %d locally", gone[0], gone[1])
			require.Zero(t, gone[0])
			require.Greater(t, gone[1], 25*len(lost))
			c.WaitFailover(t, name(lost[0]), dead)
			c.WaitOK(t)
		}, func() {})
		f.requireFailover(t, o)
		dead.Restart(t)
		c.WaitOK(t)
		return f.noise
	})
}
