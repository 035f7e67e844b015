package redisstore_test

import (
	"context"
	"errors"
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

// settles is how long after the servers have changed over checks may fail. It
// is less than the 5 s after which a client looks at the topology unasked.
const settles = 3 * time.Second

// crowd is users who check all the time, and what fails meanwhile.
type crowd struct {
	failures

	store *redisstore.Store
	users int
	load  *traffic
}

func newCrowd(t *testing.T, s *redisstore.Store, users int) *crowd {
	t.Helper()
	c := &crowd{store: s, users: users}
	ready(t, s)
	c.allAnswered(t)
	c.load = run(t, 10, func(worker, i int) error {
		err := c.check(worker*31 + i)
		if err != nil {
			<-time.After(time.Millisecond) // as many as a server has requests, not as many as it can refuse
		}
		return err
	}, c.note)
	return c
}

func (c *crowd) check(i int) error {
	_, err := c.store.Take(context.Background(), core.Request{Key: user(i % c.users), Limits: plenty, Cost: 1})
	return err
}

// allAnswered waits until all of the users are, one after the other.
func (c *crowd) allAnswered(t *testing.T) {
	t.Helper()
	redistest.Wait(t, patient, "all users to be answered", func() error {
		for i := range c.users {
			if err := c.check(i); err != nil {
				return err
			}
		}
		return nil
	})
}

// settle requires that failures ended soon after the switch, and that the store
// is as well as before.
func (c *crowd) settle(t *testing.T, switched time.Time) {
	t.Helper()
	redistest.Wait(t, patient, "the switch to settle", func() error {
		if left := settles - time.Since(switched); left > 0 {
			return fmt.Errorf("%v to go", left)
		}
		return nil
	})
	const more = 2000
	before := c.counts()
	c.load.goOn(t, more)
	c.load.stop()
	c.tell(t, switched)
	for kind := range before {
		require.Contains(t, []string{
			"CLUSTERDOWN", "READONLY", "MASTERDOWN", "LOADING",
			redisstore.ErrTimeout.Error(), redisstore.ErrUnreachable.Error(), redisstore.ErrPaused.Error(),
		}, kind)
	}
	late := c.since(before)
	require.LessOrEqual(t, lateness(late), more/20, "%v", late)
	require.Subset(t, []string{redisstore.ErrTimeout.Error(), redisstore.ErrPaused.Error()}, slices.Collect(maps.Keys(late)), "nothing is refused for longer")
	c.allAnswered(t)
	require.Equal(t, redisstore.StateClosed, c.store.State())
}

// lives requires that a check of somebody new goes to this server.
func (c *crowd) lives(t *testing.T, server *redistest.Server, i int) {
	t.Helper()
	redistest.Wait(t, patient, "an answer", func() error {
		_, err := c.store.Take(t.Context(), core.Request{Key: user(i), Limits: plenty, Cost: 1})
		return err
	})
	key := c.store.RedisKey(user(i), plenty)
	require.Equal(t, []string{key}, server.Keys(t, key), "who is new is known to the new master")
}

// theirs is a user who has not been here and whose bucket this node has.
func theirs(t *testing.T, cluster *redistest.Cluster, s *redisstore.Store, node *redistest.Server) int {
	t.Helper()
	i := 10_000
	for cluster.MasterOf(t, s.RedisKey(user(i), plenty)) != node {
		i++
	}
	return i
}

// followsAnAgreement has a replica take over while its master is well, which
// refuses with READONLY or MOVED from then on.
func followsAnAgreement(t *testing.T, cluster *redistest.Cluster) {
	t.Helper()
	c := newCrowd(t, open(t, rueidis.ClientOption{InitAddress: cluster.Addrs()}), 400)
	replica := cluster.ReplicaOf(t, c.store.RedisKey(user(1), plenty))
	switched := cluster.Failover(t, replica)
	c.settle(t, switched)
	c.lives(t, replica, theirs(t, cluster, c.store, replica))
}

// failsOver kills a master and wants errors only until the servers have elected
// another.
func failsOver(t *testing.T, cluster *redistest.Cluster) {
	t.Helper()
	c := newCrowd(t, open(t, rueidis.ClientOption{InitAddress: cluster.Addrs()}), 400)
	key := c.store.RedisKey(user(1), plenty)
	master := cluster.MasterOf(t, key)
	began := time.Now()
	master.Kill(t)
	redistest.Wait(t, patient, "another master", func() error {
		if cluster.MasterOf(t, key) == master {
			return errors.New("it still is")
		}
		return nil
	})
	switched := time.Now()
	t.Logf("elected after %v", switched.Sub(began))
	next := cluster.WaitFailover(t, key, master)
	c.settle(t, switched)
	require.Positive(t, c.counts()[redisstore.ErrPaused.Error()], "the breaker spares who waits")
	c.lives(t, next, theirs(t, cluster, c.store, next))
}
