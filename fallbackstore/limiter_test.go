package fallbackstore_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fallbackstore"
)

var (
	id   = core.Identity{Key: "ana", Tier: "free"}
	five = core.PerMinute(5).Limits()
)

// limiterOver is a limiter of 10 a minute over p, and the events it tells.
func limiterOver(t *testing.T, p pair) (*core.Limiter, *[]core.Event) {
	t.Helper()
	var events []core.Event
	l, err := core.New(p, core.Plans{Tiers: map[string]core.Quota{"free": core.PerMinute(10)}},
		core.WithClock(p.clock), core.WithObserver(func(_ context.Context, e core.Event) { events = append(events, e) }))
	require.NoError(t, err)
	return l, &events
}

func TestDecisionsTellThatAFallbackAnswered(t *testing.T) {
	t.Parallel()
	p := newPair(fallbackstore.WithShare(0.5))
	l, events := limiterOver(t, p)
	require.False(t, l.Take(t.Context(), id, 1).Degraded)
	p.primary.fail(errAway)
	for range 5 {
		d := l.Take(t.Context(), id, 1)
		require.Equal(t, core.Allowed, d.Outcome)
		require.True(t, d.Degraded)
		require.NoError(t, d.Err)
	}
	d := l.Take(t.Context(), id, 1)
	require.Equal(t, core.OverQuota, d.Outcome)
	require.Equal(t, http.StatusTooManyRequests, d.Status())
	require.True(t, d.Degraded)
	require.Equal(t, 12*time.Second, d.Level.RetryAfter, "one every 12 s for each of two")
	require.True(t, l.Peek(t.Context(), id, 1).Degraded)
	p.primary.fail(nil)
	require.False(t, l.Take(t.Context(), id, 1).Degraded)

	require.Len(t, *events, 8)
	for i, e := range *events {
		require.Equal(t, 1 <= i && i <= 6, e.Decision.Degraded)
	}
}

func TestWhenBothFailThePolicyDecides(t *testing.T) {
	t.Parallel()
	errFull := errors.New("disk is full")
	p := newPair()
	l, events := limiterOver(t, p)
	strict, err := l.With(core.OnStorageError(core.Deny(http.StatusServiceUnavailable)))
	require.NoError(t, err)
	p.primary.fail(errAway)
	p.local.fail(errFull)

	d := l.Take(t.Context(), id, 1)
	require.Equal(t, core.AllowedOnStorageError, d.Outcome)
	require.False(t, d.Degraded, "nobody has answered")
	require.ErrorIs(t, d.Err, errAway)
	require.ErrorIs(t, d.Err, errFull)

	d = strict.Take(t.Context(), id, 1)
	require.Equal(t, core.StorageFailed, d.Outcome)
	require.Equal(t, http.StatusServiceUnavailable, d.Status())
	require.Len(t, *events, 2)

	p.local.fail(nil)
	require.Equal(t, core.Allowed, strict.Take(t.Context(), id, 1).Outcome, "with one of them it is limited")
}

func TestAHangUpIsCanceledAndNotServedLocally(t *testing.T) {
	t.Parallel()
	p := newPair()
	ctx, cancel := context.WithCancel(t.Context())
	p.Store = fallbackstore.New(taker(func(context.Context, core.Request) (core.Result, error) {
		cancel() // during the check
		return core.Result{}, ctx.Err()
	}), p.local)
	l, _ := limiterOver(t, p)
	require.Equal(t, core.Canceled, l.Take(ctx, id, 1).Outcome)
	require.Empty(t, p.local.requests())
	require.Equal(t, shared, p.State())
}

// taker is a store of one function.
type taker func(context.Context, core.Request) (core.Result, error)

func (f taker) Take(ctx context.Context, r core.Request) (core.Result, error) { return f(ctx, r) }

func (f taker) Reset(context.Context, core.Key, []core.Limit) error { return nil }
