package redisstore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// behind is the least that a store behind Sentinels needs.
func behind(sentinel *redistest.Sentinel) rueidis.ClientOption {
	return rueidis.ClientOption{
		InitAddress: sentinel.SentinelAddrs(),
		Sentinel:    rueidis.SentinelOption{MasterSet: redistest.MasterName},
	}
}

// TestSentinelsMakeAnotherMaster kills the master, or freezes it, under load.
func TestSentinelsMakeAnotherMaster(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes 10 s")
	}
	for name, harm := range map[string]func(*testing.T, *redistest.Server){
		"killed": func(t *testing.T, s *redistest.Server) { t.Helper(); s.Kill(t) },
		"frozen": func(t *testing.T, s *redistest.Server) { t.Helper(); s.Freeze(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sentinel := redistest.StartSentinel(t)
			c := newCrowd(t, open(t, behind(sentinel)), 100)
			old := sentinel.Master(t)
			began := time.Now()
			harm(t, old)
			redistest.Wait(t, patient, "another master", func() error {
				if sentinel.Master(t) == old {
					return errors.New("it still is")
				}
				return nil
			})
			switched := time.Now()
			t.Logf("elected after %v", switched.Sub(began))
			c.settle(t, switched)
			c.lives(t, sentinel.Master(t), 10_000)
			if name == "frozen" {
				old.Thaw(t)
				sentinel.WaitOK(t)
				c.allAnswered(t)
				c.lives(t, sentinel.Master(t), 10_001)
			}
		})
	}
}

// TestSentinelsAgreeOnAnotherMaster: nothing is harmed, and the old one refuses
// with READONLY once it is a replica. Before that its scripts are flushed.
func TestSentinelsAgreeOnAnotherMaster(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes 8 s")
	}
	sentinel := redistest.StartSentinel(t)
	s := open(t, behind(sentinel), redisstore.WithTimeout(patient))
	ready(t, s)
	limits := endless()["two"]
	load := run(t, 10, func(int, int) error {
		_, err := s.Take(t.Context(), core.Request{Key: user(1), Limits: limits, Cost: 1})
		return err
	}, func(err error) { assert.NoError(t, err) })
	for range 7 {
		for _, server := range append(sentinel.Replicas(t), sentinel.Master(t)) {
			server.Do(t, "SCRIPT", "FLUSH")
			load.goOn(t, 20)
		}
	}
	load.stop()
	require.EqualValues(t, load.answered.Load(), spent(t, s, limits), "each check is charged once")

	c := newCrowd(t, open(t, behind(sentinel)), 100)
	master, switched := sentinel.Failover(t)
	c.settle(t, switched)
	c.lives(t, master, 10_000)
}
