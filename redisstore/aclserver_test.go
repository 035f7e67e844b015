package redisstore_test

import (
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
)

// TestTheDocumentedRightsSufficeInACluster, where slots move meanwhile.
func TestTheDocumentedRightsSufficeInACluster(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes 4 s")
	}
	g := documented(t)
	cluster := redistest.StartCluster(t, g.option(g.logs, g.cluster))
	r := anyRedis{cluster.Client(t, g.as()), true}
	require.Equal(t, rueidis.ClientModeCluster, r.Mode())
	s, sets := r.store(), endless()
	load := run(t, 4, func(worker, i int) error {
		_, err := s.Take(t.Context(), core.Request{Key: user((worker*31 + i) % 200), Limits: sets["two"], Cost: 1})
		return err
	}, func(err error) { assert.NoError(t, err) })
	cluster.MigrateSlots(t, cluster.Node(0), cluster.Node(1), 50)
	load.stop()

	// A slot that is on its way: its new keys are asked for where it goes.
	i := 1000
	for ; cluster.MasterOf(t, s.RedisKey(user(i), sets["lone"])) != cluster.Node(0); i++ {
	}
	slot := redistest.Slot(s.RedisKey(user(i), sets["lone"]))
	from, to := cluster.Node(0), cluster.Node(2)
	to.Do(t, "CLUSTER", "SETSLOT", slot, "IMPORTING", from.Do(t, "CLUSTER", "MYID"))
	from.Do(t, "CLUSTER", "SETSLOT", slot, "MIGRATING", to.Do(t, "CLUSTER", "MYID"))
	require.True(t, charge(t, s, user(i), sets["lone"], 1).Allowed)
	require.Equal(t, 1, sets["lone"][0].Burst-look(t, s, user(i), sets["lone"]).Levels[0].Remaining)
	cluster.MigrateSlot(t, slot, from, to)
	cluster.WaitOK(t)

	for i, limits := range [][]core.Limit{sets["lone"], sets["log"], eonSets()["all"]} {
		charge(t, s, user(i), limits, 1)
		force(t, s, user(i), limits, -1)
		require.NoError(t, s.Reset(t.Context(), user(i), limits))
	}
	for _, node := range cluster.Nodes() {
		require.Empty(t, node.Do(t, "ACL", "LOG"))
	}
}

func TestTheDocumentedRightsSufficeBehindSentinels(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes 3 s")
	}
	g := documented(t)
	sentinel := redistest.StartSentinel(t, g.option(g.masters))
	o := sentinel.ClientOption()
	g.as()(&o)
	o.Sentinel.TopologyRefreshInterval = 100 * time.Millisecond
	s := open(t, o)
	ready(t, s)
	<-time.After(300 * time.Millisecond)
	answers(t, s)
	for _, server := range append(sentinel.Replicas(t), sentinel.Master(t)) {
		require.Empty(t, server.Do(t, "ACL", "LOG"))
	}
}
