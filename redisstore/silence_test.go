package redisstore_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// These tests are not parallel, and wait until those that are have not begun:
// they measure time.

func TestASilentRedisCostsARequestNothing(t *testing.T) { //nolint:paralleltest // it measures time
	if testing.Short() {
		t.Skip("takes 10 s")
	}
	freeze := func(s *redistest.Server, _ *redistest.Proxy) { s.Freeze(t) }
	thaw := func(s *redistest.Server, _ *redistest.Proxy) { s.Thaw(t) }
	hole := func(_ *redistest.Server, p *redistest.Proxy) { p.BlackHole(true) }
	slow := func(_ *redistest.Server, p *redistest.Proxy) { p.Delay(5 * time.Second) }
	heal := func(_ *redistest.Server, p *redistest.Proxy) { p.Heal(); p.Reset() }
	for name, c := range map[string]struct {
		begin, end func(*redistest.Server, *redistest.Proxy)
		change     func(*rueidis.ClientOption)
	}{
		"frozen":                   {freeze, thaw, nil},
		"frozen, rueidis defaults": {freeze, thaw, defaults},
		"black hole":               {hole, heal, nil},
		"5 s late":                 {slow, heal, nil},
	} {
		t.Run(name, func(t *testing.T) {
			server := redistest.Start(t)
			proxy := redistest.NewProxy(t, server.Addr())
			changes := []func(*rueidis.ClientOption){redistest.Through(proxy)}
			if c.change != nil {
				changes = append(changes, c.change)
			}
			s := redisstore.New(server.Client(t, changes...))
			check := func(i int) error {
				_, err := s.Take(context.Background(), core.Request{Key: user(i % 1000), Limits: plenty, Cost: 1}) //nolint:usetesting // without a deadline
				return err
			}
			quiet := runtime.NumGoroutine()
			send(t, rate(), 300*time.Millisecond, check)
			redistest.Wait(t, patient, "an answer", func() error { return check(0) })
			c.begin(server, proxy)
			silent := send(t, rate(), 3*time.Second, check)
			silent.prompt(t, name, 110*time.Millisecond)
			require.LessOrEqual(t, silent.goroutines-quiet, 512+50+silent.waiting())
			require.Equal(t, redisstore.StateOpen, s.State())

			c.end(server, proxy)
			silent.recovers(t, name, check)
		})
	}
}

// defaults takes away what the store's documentation asks of a client.
func defaults(o *rueidis.ClientOption) {
	o.AlwaysPipelining, o.ConnWriteTimeout = false, 0
	o.Dialer.Timeout, o.Dialer.KeepAlive = 0, 0
}

// TestCallersWithLittleTimeDoNotFillTheRing: none of them waits for the store's
// own deadline, so the breaker learns nothing from them.
func TestCallersWithLittleTimeDoNotFillTheRing(t *testing.T) { //nolint:paralleltest // it measures time
	if testing.Short() {
		t.Skip("takes 4 s")
	}
	server := redistest.Start(t)
	s := redisstore.New(server.Client(t, defaults, func(o *rueidis.ClientOption) { o.AlwaysPipelining = true }))
	check := func(i int) error {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond) //nolint:usetesting // as above
		defer cancel()
		// A new user each time: what the store listens for is then no key that is there.
		_, err := s.Take(ctx, core.Request{Key: user(i), Limits: plenty, Cost: 1})
		return err
	}
	for i := range 100 { // by all connections
		require.NoError(t, check(i))
	}
	quiet := runtime.NumGoroutine()
	server.Freeze(t)
	silent := send(t, rate(), 3*time.Second, check)
	silent.prompt(t, "50 ms", 60*time.Millisecond)
	require.LessOrEqual(t, silent.goroutines-quiet, 2*512+50+silent.waiting())
	require.Positive(t, silent.errors[redisstore.ErrBusy])
	require.Equal(t, redisstore.StateClosed, s.State())

	server.Thaw(t)
	silent.recovers(t, "50 ms", check)
}
