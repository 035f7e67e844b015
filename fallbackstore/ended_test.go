package fallbackstore_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fallbackstore"
	"github.com/tierlimit/tierlimit/redisstore"
)

func TestTheCallersOwnEndIsHandedOn(t *testing.T) {
	t.Parallel()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	expired, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for _, c := range []struct {
		ctx context.Context //nolint:containedctx // a row of a table
		err error
	}{
		{canceled, context.Canceled},
		{canceled, fmt.Errorf("conn: %w", context.Canceled)},
		{expired, context.DeadlineExceeded},
		{expired, fmt.Errorf("%w: %w", context.DeadlineExceeded, redisstore.ErrTimeout)},
	} {
		p := newPair()
		p.primary.fail(c.err)
		_, err := p.Take(c.ctx, core.Request{Key: ana, Limits: ten, Cost: 1})
		require.ErrorIs(t, err, c.ctx.Err())
		require.Empty(t, p.local.requests())
		require.Equal(t, fallbackstore.StateShared, p.State(), "it says nothing of the primary")
	}
}

// TestAFailureBesideAHangUpIsAFailure: that the caller has gone meanwhile does
// not make the primary's own failure the caller's.
func TestAFailureBesideAHangUpIsAFailure(t *testing.T) {
	t.Parallel()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	p := newPair()
	p.primary.fail(redisstore.ErrUnreachable)
	res, err := p.Take(canceled, core.Request{Key: ana, Limits: ten, Cost: 1})
	require.NoError(t, err)
	require.True(t, res.Degraded)
	require.Equal(t, fallbackstore.StateDegraded, p.State())
}

// hurried is a ctx of which the deadline is known, and is not over yet: its timer
// has still to run.
type hurried struct {
	context.Context //nolint:containedctx // it is one

	deadline time.Time
}

func (c hurried) Deadline() (time.Time, bool) { return c.deadline, true }

// TestTheCallersDeadlineIsHandedOn also when the primary, which watches it, is
// earlier than ctx. The primary's own is answered locally.
func TestTheCallersDeadlineIsHandedOn(t *testing.T) {
	t.Parallel()
	errTimeout := fmt.Errorf("%w: %w", redisstore.ErrTimeout, context.DeadlineExceeded)
	for _, s := range []struct {
		left   time.Duration
		err    error
		answer bool
	}{
		{0, errTimeout, false},
		{0, context.DeadlineExceeded, false},
		{-time.Second, errTimeout, false},
		{time.Hour, errTimeout, true},
		{time.Hour, context.DeadlineExceeded, true},
		{0, errAway, true},
		{0, context.Canceled, true},
	} {
		p := newPair()
		p.primary.fail(s.err)
		res, err := p.Take(hurried{t.Context(), time.Now().Add(s.left)}, core.Request{Key: ana, Limits: ten, Cost: 1})
		if s.answer {
			require.NoError(t, err, "%v, %v left", s.err, s.left)
			require.True(t, res.Degraded)
			require.Equal(t, degraded, p.State())
			continue
		}
		require.Equal(t, s.err, err, "%v left", s.left)
		require.Empty(t, p.local.requests())
		require.Equal(t, shared, p.State(), "it says nothing of the primary")
	}
}

// TestAPrimaryThatEndsWithTheCallersDeadlineHasNotFailed: with real timers, of
// which either may be first.
func TestAPrimaryThatEndsWithTheCallersDeadlineHasNotFailed(t *testing.T) {
	t.Parallel()
	s := fallbackstore.New(taker(func(ctx context.Context, _ core.Request) (core.Result, error) {
		deadline, _ := ctx.Deadline()
		<-time.After(time.Until(deadline))
		return core.Result{}, fmt.Errorf("%w: %w", context.DeadlineExceeded, redisstore.ErrTimeout)
	}), newPair().local)
	together(200, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond) //nolint:usetesting // in goroutines
		defer cancel()
		if _, err := s.Take(ctx, core.Request{Key: ana, Limits: ten, Cost: 1}); err == nil {
			t.Error("it was answered locally")
		}
	})
	require.Equal(t, shared, s.State())
}

// together runs f so often at once.
func together(n int, f func()) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(f)
	}
	wg.Wait()
}
