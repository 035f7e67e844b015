package redistest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/redistest"
)

func TestSentinelFailsOverAfterAKillAndAFreeze(t *testing.T) {
	t.Parallel()
	began := time.Now()
	s := redistest.StartSentinel(t, redistest.WithPassword("secret"))
	t.Logf("a master under Sentinels took %v", time.Since(began))
	require.Len(t, s.SentinelAddrs(), 3)
	require.Len(t, s.Replicas(t), 2)
	client := s.Client(t)
	set := func() error {
		return client.Do(t.Context(), client.B().Set().Key("a").Value("1").Build()).Error()
	}
	require.NoError(t, set())

	first := s.Master(t)
	first.Kill(t)
	began = time.Now()
	second := s.WaitFailover(t, first)
	t.Logf("after a kill a failover took %v", time.Since(began))
	assert.Equal(t, second.Addr(), s.MasterAddr(t))
	redistest.Wait(t, 10*time.Second, "the client to follow", set)
	first.Restart(t)
	s.WaitOK(t)
	assert.Contains(t, s.Replicas(t), first)
	assert.Equal(t, []string{"a"}, first.Keys(t, "*"), "it is a replica now")

	second.Freeze(t)
	s.Sentinels()[0].Kill(t) // Two of three are enough.
	began = time.Now()
	third := s.WaitFailover(t, second)
	t.Logf("after a freeze a failover took %v", time.Since(began))
	assert.NotSame(t, second, third)
	redistest.Wait(t, 10*time.Second, "the client to follow", set)
}
