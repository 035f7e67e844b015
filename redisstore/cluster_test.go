package redisstore_test

import (
	"testing"

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
	t.Run("replica promoted", func(t *testing.T) { followsAnAgreement(t, cluster) })
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
		load.goOn(t, 30)
	}
	load.stop()
	charged := 0
	for i := range 30 {
		charged += limits[0].Burst - look(t, s, user(i), limits).Levels[0].Remaining
	}
	require.EqualValues(t, load.answered.Load(), charged)
}
