package redisstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

func open(t *testing.T, o rueidis.ClientOption, opts ...redisstore.Option) *redisstore.Store {
	t.Helper()
	began := time.Now()
	s, err := redisstore.Open(o, opts...)
	require.NoError(t, err)
	require.Less(t, time.Since(began), time.Second, "Open waits for nobody")
	t.Cleanup(s.Close)
	return s
}

func ready(t *testing.T, s *redisstore.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	require.NoError(t, s.Ready(ctx))
}

func TestAStoreIsThereBeforeItsRedis(t *testing.T) {
	t.Parallel()
	addr := redistest.Reserve(t)
	s := open(t, rueidis.ClientOption{InitAddress: []string{addr}})
	require.ErrorIs(t, ask(s), redisstore.ErrUnreachable)
	require.ErrorIs(t, s.Reset(t.Context(), user(1), plenty), redisstore.ErrUnreachable)
	require.Equal(t, redisstore.StateClosed, s.State())
	limiter := free(t, s)
	d := limiter.Take(t.Context(), core.Identity{Key: "key_ana"}, 1)
	require.Equal(t, 503, d.Status())
	require.ErrorIs(t, d.Err, redisstore.ErrUnreachable)

	server := redistest.StartAt(t, addr)
	redistest.Wait(t, 5*time.Second, "the limiter to limit", func() error { return limiter.Take(t.Context(), core.Identity{Key: "key_ana"}, 1).Err })
	require.Equal(t, []string{goldenKey}, server.Keys(t, "*"))
	ready(t, s)
}

func TestAStoreIsThereBeforeItsClusterAndItsSentinels(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes 10 s")
	}
	proxies := func(t *testing.T, addrs []string) []string {
		t.Helper()
		var through []string
		for _, addr := range addrs {
			p := redistest.NewProxy(t, addr)
			p.Refuse(true)
			through = append(through, p.Addr())
			go func() { // the addresses are there 300 ms later
				<-time.After(300 * time.Millisecond)
				p.Refuse(false)
			}()
		}
		return through
	}
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		o := redistest.StartCluster(t).ClientOption()
		o.InitAddress = proxies(t, o.InitAddress)
		s := open(t, o)
		require.ErrorIs(t, ask(s), redisstore.ErrUnreachable)
		ready(t, s)
		for i := range 50 {
			redistest.Wait(t, patient, "an answer", func() error {
				_, err := s.Take(t.Context(), core.Request{Key: user(i), Limits: plenty, Cost: 1})
				return err
			})
		}
	})
	t.Run("sentinel", func(t *testing.T) {
		t.Parallel()
		o := redistest.StartSentinel(t).ClientOption()
		o.InitAddress = proxies(t, o.InitAddress)
		s := open(t, o)
		require.ErrorIs(t, ask(s), redisstore.ErrUnreachable)
		ready(t, s)
		answers(t, s)
	})
}

// TestASilentSentinelHoldsNothingUp: the first of three accepts and says nothing.
func TestASilentSentinelHoldsNothingUp(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes 5 s")
	}
	sentinel := redistest.StartSentinel(t)
	hole := redistest.NewProxy(t, sentinel.SentinelAddrs()[0])
	hole.BlackHole(true)
	s := open(t, rueidis.ClientOption{
		InitAddress: append([]string{hole.Addr()}, sentinel.SentinelAddrs()[1:]...),
		Sentinel:    rueidis.SentinelOption{MasterSet: redistest.MasterName},
	})
	began := time.Now()
	ready(t, s)
	require.Less(t, time.Since(began), 4*time.Second)
}

func TestReadyTellsWhyNot(t *testing.T) {
	t.Parallel()
	s := open(t, rueidis.ClientOption{InitAddress: []string{redistest.Reserve(t)}})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err := s.Ready(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, redisstore.ErrUnreachable)
	require.ErrorContains(t, err, "refused")

	waits := make(chan error)
	go func() { waits <- s.Ready(context.Background()) }() //nolint:usetesting // ended by Close
	s.Close()
	require.ErrorIs(t, <-waits, redisstore.ErrUnreachable)
}

func TestReadyWaitsOnTheCallersClientToo(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := redisstore.New(server.Client(t), redisstore.WithTimeout(patient))
	server.Freeze(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	require.ErrorIs(t, s.Ready(ctx), context.DeadlineExceeded)
	require.Less(t, time.Since(began), 5*time.Second)
	server.Thaw(t)
	ready(t, s)
}

func TestAClientOfTheCallersStaysOpen(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r anyRedis) {
		t.Helper()
		s := r.store()
		s.Close()
		answers(t, s)
		require.NoError(t, s.Ready(t.Context()))
		r.do(t, "PING")
	})
}
