package chaostest_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
)

// bulk is the i-th bulk user.
func bulk(i int) string { return "bulk" + strconv.Itoa(i) }

// requireFailover asserts what holds for any failover. The new master may lack
// the last writes of the old one, which is a forgotten bucket at worst.
func (f *fleet) requireFailover(t *testing.T, o fault) {
	t.Helper()
	f.requireFew(t)
	all := f.waits(0, f.now())
	t.Logf("inside the store: %v", all)
	t.Logf("a sleeper is late by: %v", f.noise.late)
	f.noise.requireWithin(t, deadline+f.slack(), all.of(0.999))
	f.requireAdmitted(t, o, 1)
	f.requireBack(t, o)
	for name := range f.errors {
		require.Contains(t, []string{"timeout", "unreachable", "paused", "busy", "refused"}, name)
	}
	for status := range f.statuses {
		require.Contains(t, []int{200, 429}, status, "nobody is told of it")
	}
}

func TestSentinelsFailOver(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("Sentinels take their time")
	}
	s := redistest.StartSentinel(t)
	f := serve(t, s.ClientOption())
	f.load(t, light)
	old := s.Master(t)
	o := f.suffer(t, 0, func() {
		old.Kill(t)
		s.WaitFailover(t, old)
	}, func() {})
	f.requireFailover(t, o)
}

func TestAShardOfAClusterFailsOver(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a Cluster takes its time")
	}
	c := redistest.StartCluster(t)
	f := serve(t, c.ClientOption())
	f.load(t, light)

	limits := plans.Tiers["bulk"].Limits()
	name := func(i int) string { return f.redis[0].RedisKey(core.Key{Tier: "bulk", ID: bulk(i)}, limits) }
	dead := c.MasterOf(t, name(0))
	var healthy []core.Key
	for i := range callers[2].users {
		if c.MasterOf(t, name(i)) != dead {
			healthy = append(healthy, core.Key{Tier: "bulk", ID: bulk(i)})
		}
	}
	o := f.suffer(t, 0, func() {
		dead.Kill(t)
		// The Cluster as a whole is well for 2 s yet, so the other shards serve on.
		before := f.snapshot()
		rest(1500 * time.Millisecond)
		after := f.snapshot()
		for _, key := range healthy {
			shared := after[key].shared.n - before[key].shared.n
			local := after[key].local.n - before[key].local.n
			t.Logf("%s, of another shard: %d units shared, %d locally", key.ID, shared, local)
			require.Greater(t, shared, 4*local)
		}
		c.WaitFailover(t, name(0), dead)
		c.WaitOK(t)
	}, func() {})
	f.requireFailover(t, o)
}
