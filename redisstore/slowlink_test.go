package redisstore_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// TestAHotBucketOnASlowLinkStopsNobody: one answer takes most of a check's time,
// so a call before one's own would take it over, and the breaker with it.
func TestAHotBucketOnASlowLinkStopsNobody(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr())
	client := server.Client(t, redistest.Through(proxy), oneConnection)
	known := anyRedis{client, true}.store()
	together(50, func(int) { _ = ask(known) }) // the scripts are, to the server
	s := redisstore.New(client, redisstore.WithTimeout(400*time.Millisecond))
	answers(t, s)
	proxy.Delay(220 * time.Millisecond)
	var ended atomic.Bool
	var innocent, refusedInnocent atomic.Int64
	go func() {
		for !ended.Load() {
			_, err := s.Take(context.Background(), core.Request{Key: user(2), Limits: plenty, Cost: 1}) //nolint:usetesting // it ends by itself
			innocent.Add(1)
			if err != nil {
				refusedInnocent.Add(1)
			}
		}
	}()
	var ok, failed atomic.Int64
	together(20, func(int) {
		for began := time.Now(); time.Since(began) < 3*time.Second; {
			if err := ask(s); err != nil {
				failed.Add(1)
			} else {
				ok.Add(1)
			}
		}
	})
	ended.Store(true)
	t.Logf("%d answered, %d failed; of the other %d, %d failed", ok.Load(), failed.Load(), innocent.Load(), refusedInnocent.Load())
	require.Less(t, failed.Load(), ok.Load()/10, "but for a moment in which the machine itself was away")
	require.Zero(t, refusedInnocent.Load())
	require.Equal(t, redisstore.StateClosed, s.State())
}

// TestASlowStateChangeDoesNotHoldUpAHotBucket: those who wait for the call of the
// one who tells of the change are seen to before it is told.
func TestASlowStateChangeDoesNotHoldUpAHotBucket(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := redisstore.New(server.Client(t), redisstore.WithBreaker(5, 100*time.Millisecond), redisstore.WithStateChange(func(redisstore.State) {
		time.Sleep(150 * time.Millisecond) //nolint:forbidigo // it is slow, beside a real server
	}))
	answers(t, s)
	server.Freeze(t)
	for s.State() == redisstore.StateClosed {
		_ = ask(s)
	}
	server.Thaw(t)
	redistest.Wait(t, patient, "an answer", func() error { return ask(s) })
	var timeouts atomic.Int64
	together(20, func(int) {
		for began := time.Now(); time.Since(began) < time.Second; {
			if errors.Is(ask(s), redisstore.ErrTimeout) {
				timeouts.Add(1)
			}
		}
	})
	require.Zero(t, timeouts.Load())
	require.Equal(t, redisstore.StateClosed, s.State())
}
