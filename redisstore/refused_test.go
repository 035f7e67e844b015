package redisstore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// refuses asks for everything of a server that refuses with a text.
func refuses(t *testing.T, server *redistest.Server, sets map[string][]core.Limit, text string) {
	t.Helper()
	s := redisstore.New(server.Client(t), redisstore.WithTimeout(patient), redisstore.WithBreaker(1, patient))
	for name, limits := range sets {
		for range 3 {
			_, err := s.Take(t.Context(), core.Request{Key: user(1), Limits: limits, Cost: 1})
			require.ErrorIs(t, err, redisstore.ErrRefused, name)
			require.ErrorContains(t, err, text, name)
		}
		require.Equal(t, redisstore.StateClosed, s.State(), "it was Redis who answered")
	}
}

func TestRefusalsOfRedis(t *testing.T) {
	t.Parallel()
	t.Run("replica", func(t *testing.T) {
		t.Parallel()
		master := redistest.Start(t)
		replica := redistest.Start(t, redistest.WithConfig(fmt.Sprintf("replicaof 127.0.0.1 %d", master.Port())))
		redistest.Wait(t, patient, "the replica to be in sync", func() error {
			if info := fmt.Sprint(replica.Do(t, "info", "replication")); !strings.Contains(info, "master_link_status:up") {
				return errors.New("not yet")
			}
			return nil
		})
		refuses(t, replica, eonSets(), "READONLY")
		require.Empty(t, master.Keys(t, "*"))
		replica.Do(t, "CONFIG", "SET", "replica-serve-stale-data", "no")
		master.Kill(t)
		redistest.Wait(t, patient, "the master to be missed", func() error {
			if _, err := replica.Try("GET", "x"); err == nil {
				return errors.New("not yet")
			}
			return nil
		})
		refuses(t, replica, eonSets(), "MASTERDOWN")
		replica.Do(t, "REPLICAOF", "NO", "ONE")
		answers(t, redisstore.New(replica.Client(t)))
	})
	t.Run("out of memory", func(t *testing.T) {
		t.Parallel()
		server := redistest.Start(t, redistest.WithMaxMemory("1kb", "noeviction"))
		refuses(t, server, eonSets(), "OOM")
		server.Do(t, "CONFIG", "SET", "maxmemory", "0")
		s := redisstore.New(server.Client(t))
		for name, limits := range eonSets() {
			require.Zero(t, spent(t, s, limits), "%s: what was refused is not charged", name)
		}
	})
	t.Run("too few replicas", func(t *testing.T) {
		t.Parallel()
		refuses(t, redistest.Start(t, redistest.WithConfig("min-replicas-to-write 1")), eonSets(), "NOREPLICAS")
	})
	t.Run("no cluster yet", func(t *testing.T) {
		t.Parallel()
		refuses(t, redistest.Start(t, redistest.WithConfig("cluster-enabled yes")), eonSets(), "CLUSTERDOWN")
	})
	t.Run("busy", func(t *testing.T) {
		t.Parallel()
		server := redistest.Start(t, redistest.WithConfig("busy-reply-threshold 20"))
		s := redisstore.New(server.Client(t), redisstore.WithTimeout(patient), redisstore.WithBreaker(1, patient))
		answers(t, s)
		ended := make(chan error)
		go func() {
			_, err := server.Try("EVAL", "while true do end", 0)
			ended <- err
		}()
		redistest.Wait(t, patient, "the script to be in the way", func() error {
			err := ask(s)
			if err == nil {
				return errors.New("not yet")
			}
			require.ErrorIs(t, err, redisstore.ErrRefused)
			require.ErrorContains(t, err, "BUSY")
			return nil
		})
		require.Equal(t, redisstore.StateClosed, s.State())
		server.Do(t, "SCRIPT", "KILL")
		require.Error(t, <-ended)
		answers(t, s)
	})
}
