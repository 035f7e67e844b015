package redisstore_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

func TestCloseMayComeAtAnyTime(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	for name, prepare := range map[string]func(*redisstore.Store){
		"before first use":  func(*redisstore.Store) {},
		"when connected":    func(s *redisstore.Store) { ready(t, s) },
		"after some checks": func(s *redisstore.Store) { ready(t, s); answers(t, s) },
	} {
		for _, addr := range []string{server.Addr(), redistest.Reserve(t)} {
			if addr != server.Addr() && name != "before first use" {
				continue
			}
			s := open(t, rueidis.ClientOption{InitAddress: []string{addr}})
			prepare(s)
			together(8, func(int) { s.Close() })
			s.Close()
			for range 3 {
				err := ask(s)
				require.ErrorIs(t, err, redisstore.ErrUnreachable, name)
				require.ErrorContains(t, err, "the store is closed")
			}
			require.ErrorIs(t, s.Ready(t.Context()), redisstore.ErrUnreachable)
			require.ErrorIs(t, s.Reset(t.Context(), user(1), plenty), redisstore.ErrUnreachable)
		}
	}
}

// TestCloseBesideChecks: each is answered or fails in time.
func TestCloseBesideChecks(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	for range 20 {
		s := open(t, rueidis.ClientOption{InitAddress: []string{server.Addr()}})
		ready(t, s)
		load := run(t, 8, func(int, int) error { return ask(s) }, func(err error) {
			for _, known := range []error{nil, redisstore.ErrUnreachable, redisstore.ErrTimeout, redisstore.ErrPaused} {
				if errors.Is(err, known) {
					return
				}
			}
			t.Errorf("%v", err)
		})
		s.Close()
		load.stop()
	}
}

func TestCloseOfAFrozenRedisDoesNotHang(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, rueidis.ClientOption{InitAddress: []string{server.Addr()}})
	ready(t, s)
	server.Freeze(t)
	require.ErrorIs(t, ask(s), redisstore.ErrTimeout)
	began := time.Now()
	s.Close()
	require.Less(t, time.Since(began), 5*time.Second)
}

func TestNoGoroutineIsLeftBehind(t *testing.T) { //nolint:paralleltest // it counts everybody's
	server := redistest.Start(t)
	hole := redistest.NewProxy(t, server.Addr())
	hole.BlackHole(true)
	refused := redistest.Reserve(t)
	before := runtime.NumGoroutine()
	var wg sync.WaitGroup
	for i := range 150 {
		s, err := redisstore.Open(rueidis.ClientOption{InitAddress: []string{server.Addr()}})
		require.NoError(t, err)
		if i%2 == 0 {
			ready(t, s)
			_ = ask(s)
			for range 8 {
				wg.Go(func() { _ = ask(s) })
			}
		}
		s.Close()
	}
	for _, addr := range []string{hole.Addr(), refused} {
		for range 10 {
			wg.Go(func() {
				s, _ := redisstore.Open(rueidis.ClientOption{InitAddress: []string{addr}})
				_ = ask(s)
				s.Close()
			})
		}
	}
	wg.Wait()
	redistest.Wait(t, 10*time.Second, "goroutines to end", func() error {
		if n := runtime.NumGoroutine(); n > before+3 { // the proxy's own
			return fmt.Errorf("%d, were %d", n, before)
		}
		return nil
	})
}
