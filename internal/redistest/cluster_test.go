package redistest_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/redistest"
)

func TestClusterFailsOverMovesSlotsAndSurvivesAKill(t *testing.T) {
	t.Parallel()
	began := time.Now()
	c := redistest.StartCluster(t, redistest.WithPassword("secret"))
	t.Logf("a cluster took %v", time.Since(began))
	require.Len(t, c.Addrs(), 6)
	for _, key := range []string{"", "a", "123456789", "trt:{free:ana}:log", "{}a", "a{b", "{a}{b}"} {
		assert.EqualValues(t, redistest.Slot(key), c.Node(0).Do(t, "cluster", "keyslot", key), key)
	}
	client := c.Client(t)
	set := func(key string) error {
		return client.Do(t.Context(), client.B().Set().Key(key).Value("1").Build()).Error()
	}
	for i := range 100 {
		require.NoError(t, set(fmt.Sprint("key", i)))
	}

	// Slots move while clients write, and no write fails.
	from, to := c.MasterOf(t, "a"), c.MasterOf(t, "b")
	require.NotSame(t, from, to)
	ctx, cancel := context.WithCancel(t.Context())
	var writes atomic.Int64
	failed := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if err := set(fmt.Sprint("key", writes.Add(1)%1000)); err != nil {
				failed <- err
				return
			}
		}
		failed <- nil
	}()
	c.MigrateSlot(t, redistest.Slot("a"), from, to)
	c.MigrateSlots(t, from, to, 100)
	cancel()
	require.NoError(t, <-failed)
	assert.Positive(t, writes.Load())
	assert.Same(t, to, c.MasterOf(t, "a"))

	// A replica takes over in agreement.
	replica := c.ReplicaOf(t, "a")
	assert.NotSame(t, to, replica)
	c.Failover(t, replica)
	assert.Same(t, replica, c.MasterOf(t, "a"))
	assert.Same(t, to, c.ReplicaOf(t, "a"))

	// And the other way round by itself.
	replica.Kill(t)
	began = time.Now()
	assert.Same(t, to, c.WaitFailover(t, "a", replica))
	t.Logf("a failover took %v", time.Since(began))
	redistest.Wait(t, 10*time.Second, "the client to recover", func() error { return set("a") })
	replica.Restart(t)
	c.WaitOK(t)
	assert.Same(t, replica, c.ReplicaOf(t, "a"))
}
