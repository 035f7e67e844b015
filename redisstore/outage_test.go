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

func TestAKilledRedisIsUnreachableAtOnceAndComesBack(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	var states atomic.Int64 // each told state a digit
	s := redisstore.New(server.Client(t), redisstore.WithStateChange(func(s redisstore.State) {
		states.Store(states.Load()*10 + int64(s) + 1)
	}), redisstore.WithBreaker(5, time.Second), redisstore.WithTimeout(patient))
	answers(t, s)
	server.Kill(t)
	began := time.Now()
	for range 5 {
		require.ErrorIs(t, ask(s), redisstore.ErrUnreachable)
	}
	require.Less(t, time.Since(began), 500*time.Millisecond)
	require.Equal(t, redisstore.StateOpen, s.State())
	require.ErrorIs(t, ask(s), redisstore.ErrPaused)

	server.Restart(t)
	redistest.Wait(t, 5*time.Second, "the breaker to close", func() error { return ask(s) })
	require.Equal(t, redisstore.StateClosed, s.State())
	require.EqualValues(t, 321, states.Load(), "open, half open, closed")
	for range 20 {
		answers(t, s)
	}
}

// TestOneOfManyProbes: 500 callers meet the end of a cool-down.
func TestOneOfManyProbes(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr())
	s := redisstore.New(server.Client(t, redistest.Through(proxy), oneConnection),
		redisstore.WithTimeout(patient), redisstore.WithBreaker(1, 200*time.Millisecond))
	answers(t, s)
	proxy.Refuse(true)
	proxy.Reset()
	require.ErrorIs(t, ask(s), redisstore.ErrUnreachable)
	require.Equal(t, redisstore.StateOpen, s.State())
	proxy.Refuse(false)
	time.Sleep(300 * time.Millisecond) //nolint:forbidigo // the cool-down is over, by a real server's time

	before := server.CommandStats(t)["evalsha"].Calls
	proxy.Delay(200 * time.Millisecond) // all ask before the probe is answered
	var answered, paused atomic.Int64
	together(500, func(int) {
		switch err := ask(s); {
		case err == nil:
			answered.Add(1)
		case errors.Is(err, redisstore.ErrPaused):
			paused.Add(1)
		}
	})
	require.EqualValues(t, 1, answered.Load())
	require.EqualValues(t, 499, paused.Load())
	require.EqualValues(t, 1, server.CommandStats(t)["evalsha"].Calls-before)
	require.Equal(t, redisstore.StateClosed, s.State())
}

func TestHangUpsTellNothing(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr())
	s := redisstore.New(server.Client(t, redistest.Through(proxy)), redisstore.WithTimeout(patient),
		redisstore.WithMaxInFlight(1000), redisstore.WithBreaker(1, time.Minute))
	answers(t, s)
	proxy.Delay(50 * time.Millisecond)
	before := server.CommandStats(t)["evalsha"].Calls
	together(1000, func(int) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel)
		_, err := s.Take(ctx, core.Request{Key: user(1), Limits: plenty, Cost: 1})
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
	require.Equal(t, redisstore.StateClosed, s.State())
	answers(t, s)
	require.LessOrEqual(t, server.CommandStats(t)["evalsha"].Calls-before, int64(1001))
}

func TestWhoHungUpBeforeAsksNothing(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := redisstore.New(server.Client(t), redisstore.WithBreaker(1, time.Minute), redisstore.WithTimeout(patient))
	answers(t, s)
	before := server.CommandStats(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, limits := range eonSets() {
		_, err := s.Take(ctx, core.Request{Key: user(1), Limits: limits, Cost: 1})
		require.Equal(t, context.Canceled, err, "as it is")
		require.ErrorIs(t, s.Reset(ctx, user(1), limits), context.Canceled)
	}
	after := server.CommandStats(t)
	require.Equal(t, before["evalsha"].Calls, after["evalsha"].Calls)
	require.Equal(t, before["set"].Calls, after["set"].Calls)
	require.Equal(t, redisstore.StateClosed, s.State())
}

func TestACallersEarlierDeadlineHoldsAndTellsNothing(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := redisstore.New(server.Client(t), redisstore.WithTimeout(10*time.Second), redisstore.WithBreaker(2, time.Minute))
	answers(t, s)
	server.Freeze(t)
	for range 10 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		began := time.Now()
		_, err := s.Take(ctx, core.Request{Key: user(1), Limits: plenty, Cost: 1})
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Less(t, time.Since(began), 5*time.Second)
	}
	require.Equal(t, redisstore.StateClosed, s.State())
	server.Thaw(t)
	answers(t, s)
}

// TestADeadlineThatIsHardlyLaterIsNotToBlame: the store's own holds, and counts.
func TestADeadlineThatIsHardlyLaterIsNotToBlame(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := redisstore.New(server.Client(t), redisstore.WithTimeout(50*time.Millisecond), redisstore.WithBreaker(2, time.Minute))
	answers(t, s)
	server.Freeze(t)
	redistest.Wait(t, 10*time.Second, "the breaker to open", func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 52*time.Millisecond)
		defer cancel()
		_, _ = s.Take(ctx, core.Request{Key: user(1), Limits: plenty, Cost: 1})
		if s.State() != redisstore.StateOpen {
			return errors.New(s.State().String())
		}
		return nil
	})
}

func TestFurtherChecksThanTheCapFailAtOnce(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := redisstore.New(server.Client(t), redisstore.WithMaxInFlight(4), redisstore.WithTimeout(patient))
	answers(t, s)
	server.Freeze(t)
	began := time.Now()
	errs := make(chan error, 10)
	for range 10 {
		go func() { errs <- ask(s) }()
	}
	for range 6 {
		require.ErrorIs(t, <-errs, redisstore.ErrBusy)
	}
	require.Less(t, time.Since(began), 5*time.Second)
	server.Thaw(t)
	for range 4 {
		require.NoError(t, <-errs)
	}
	require.Equal(t, redisstore.StateClosed, s.State())
	answers(t, s)
}
