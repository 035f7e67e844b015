package redisstore

import (
	"context"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// slowClient answers when it is told to.
type slowClient struct {
	rueidis.Client

	calls chan chan struct{}
}

func (c *slowClient) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	on := make(chan struct{})
	c.calls <- on
	select {
	case <-on:
	case <-ctx.Done():
		return c.Client.Do(ctx, cmd)
	}
	return c.Client.Do(context.WithoutCancel(ctx), cmd)
}

func newSlowClient(t *testing.T, calls int) *slowClient {
	t.Helper()
	client := miniClient(t)
	for _, source := range []string{gcraSource, gcraBatchSource} {
		require.NoError(t, client.Do(t.Context(), client.B().ScriptLoad().Script(source).Build()).Error())
	}
	return &slowClient{Client: client, calls: make(chan chan struct{}, calls)}
}

// chargeLater charges one unit, and tells when it is done.
func chargeLater(s *Store, limits []core.Limit, id string) chan error {
	done := make(chan error, 1)
	go func() {
		_, err := s.Take(context.Background(), core.Request{Key: core.Key{Tier: "t", ID: id}, Limits: limits, Cost: 1})
		done <- err
	}()
	return done
}

func queued(s *Store, key string) int {
	n := 0
	if l := s.lanes.place(key).Load(); l != nil {
		for r := l.queue.Load(); r != nil && r != gone; r = r.ahead {
			n++
		}
	}
	return n
}

func TestWhoComesDuringACallRidesInTheNext(t *testing.T) {
	t.Parallel()
	client := newSlowClient(t, 0)
	s := New(client, WithTimeout(time.Minute))
	limits := core.Per(1, time.Hour).WithBurst(10).Limits()
	key := s.RedisKey(core.Key{Tier: "t", ID: "a"}, limits)

	charges := []chan error{chargeLater(s, limits, "a")}
	first := <-client.calls
	for range 5 {
		charges = append(charges, chargeLater(s, limits, "a"))
	}
	require.Eventually(t, func() bool { return queued(s, key) == 5 }, 10*time.Second, time.Millisecond)
	other := chargeLater(s, limits, "b")
	on := <-client.calls
	close(on)
	require.NoError(t, <-other, "another bucket waits for nobody")

	close(first)
	second := <-client.calls
	require.Zero(t, queued(s, key), "all five are aboard")
	close(second)
	for _, done := range charges {
		require.NoError(t, <-done)
	}
	require.Eventually(t, func() bool { return s.lanes.place(key).Load() == nil }, 10*time.Second, time.Millisecond)
	require.Eventually(t, func() bool { return s.guard.inFlight.Load() == 0 }, 10*time.Second, time.Millisecond)
	requireSpent(t, s, client, limits, "a", 6)
}

func requireSpent(t *testing.T, s *Store, client *slowClient, limits []core.Limit, id string, want int) {
	t.Helper()
	bare := New(client.Client, WithTimeout(time.Minute))
	res, err := bare.Take(t.Context(), core.Request{Key: core.Key{Tier: "t", ID: id}, Limits: limits, Mode: core.Look})
	require.NoError(t, err)
	require.Equal(t, limits[0].Burst-want, res.Levels[0].Remaining)
	require.Equal(t, StateClosed, s.State())
}

// TestWhoHasWaitedLongGoesAlone, once, and for a while nobody waits: else a call
// each way would not fit into a check's time on a slow link.
func TestWhoHasWaitedLongGoesAlone(t *testing.T) {
	t.Parallel()
	client := newSlowClient(t, 100)
	s := New(client, WithTimeout(4*time.Second))
	s.guard.patience.timeout = 50 * time.Millisecond
	limits := core.Per(1, time.Hour).WithBurst(10).Limits()
	key := s.RedisKey(core.Key{Tier: "t", ID: "a"}, limits)
	l := &lane{call: call{key: [1]string{key}}, set: s.sets.of(limits)}
	s.lanes.place(key).Store(l) // a call that takes its time

	first := chargeLater(s, limits, "a")
	on := <-client.calls
	require.Equal(t, 1, queued(s, key))
	second := chargeLater(s, limits, "a")
	close(<-client.calls)
	require.NoError(t, <-second)
	require.Equal(t, 1, queued(s, key), "the second has not waited")
	close(on)
	require.NoError(t, <-first)
	s.carry(l, client)
	require.Empty(t, client.calls, "nobody is aboard")
	requireSpent(t, s, client, limits, "a", 2)

	s.lanes.base = s.lanes.base.Add(-2 * afterSlow)
	require.False(t, s.lanes.areSlow())
	require.Zero(t, s.lanes.slow.Load())
	require.Zero(t, s.guard.inFlight.Load())
}

// TestWhoIsAboardTooLateSaysNothingOfRedis: the call had not its whole time, and
// it keeps a place in flight until it ends, one.
func TestWhoIsAboardTooLateSaysNothingOfRedis(t *testing.T) {
	t.Parallel()
	client := newSlowClient(t, 100)
	s := New(client, WithTimeout(100*time.Millisecond), WithBreaker(1, time.Hour))
	limits := core.Per(1, time.Hour).WithBurst(10).Limits()
	key := s.RedisKey(core.Key{Tier: "t", ID: "a"}, limits)
	l := &lane{call: call{key: [1]string{key}}, set: s.sets.of(limits)}
	s.lanes.place(key).Store(l)
	all := []chan error{chargeLater(s, limits, "a"), chargeLater(s, limits, "a"), chargeLater(s, limits, "a")}
	require.Eventually(t, func() bool { return queued(s, key) == 3 }, 10*time.Second, 100*time.Microsecond)
	s.guard.current.Store(nil) // the call gets a deadline of its own
	s.guard.timeout = time.Minute
	carried := make(chan struct{})
	go func() {
		defer close(carried)
		s.carry(l, client)
	}()
	on := <-client.calls
	for _, done := range all {
		require.ErrorIs(t, <-done, ErrTimeout)
	}
	require.EqualValues(t, 1, s.guard.inFlight.Load())
	require.Equal(t, StateClosed, s.State())
	close(on)
	<-carried
	require.Zero(t, s.guard.inFlight.Load())
	requireSpent(t, s, client, limits, "a", 3)
}
