package denystore_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/denystore"
	"github.com/tierlimit/tierlimit/fallbackstore"
	"github.com/tierlimit/tierlimit/memstore"
)

func TestAGiveBackIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	for _, limits := range [][]core.Limit{ten, core.PerMinute(10).Using(core.FixedWindow).Limits(), core.PerSecond(20).And(core.PerDay(50)).Limits()} {
		c := newCached(denystore.WithMaxAge(time.Hour))
		c.exhaust(t, limits)
		take(t, c, core.Request{Key: ana, Limits: limits, Cost: -1, Mode: core.Force})
		require.True(t, charge(t, c, limits, 1).Allowed)
		c.exhaust(t, limits)
		require.NoError(t, c.Reset(t.Context(), ana, limits))
		require.True(t, charge(t, c, limits, 1).Allowed)
	}
}

// TestWhatAFallbackBehindItRefusesIsNotKept: it counts by limits of its own.
func TestWhatAFallbackBehindItRefusesIsNotKept(t *testing.T) {
	t.Parallel()
	c := newCached()
	c.next.fail(errAway)
	s := denystore.New(fallbackstore.New(c.next, memstore.New(memstore.WithClock(c.clock)), fallbackstore.WithShare(0.5)),
		denystore.WithClock(c.clock))
	require.True(t, charge(t, s, ten, 5).Degraded)
	for range 3 {
		res := charge(t, s, ten, 1)
		require.False(t, res.Allowed)
		require.True(t, res.Degraded)
		require.Equal(t, 12*time.Second, res.Levels[0].RetryAfter)
	}
	c.clock.Advance(7 * time.Second)
	require.Equal(t, 5*time.Second, charge(t, s, ten, 1).Levels[0].RetryAfter)
	take(t, s, core.Request{Key: ana, Limits: ten, Cost: -1, Mode: core.Force, Degraded: true})
	require.True(t, charge(t, s, ten, 1).Allowed)
}

// TestARefusalThatAGiveBackOvertookIsNotKept: it was judged before, and answered
// after.
func TestARefusalThatAGiveBackOvertookIsNotKept(t *testing.T) {
	t.Parallel()
	for name, giveBack := range map[string]func(c cached){
		"give-back": func(c cached) { take(t, c, core.Request{Key: ana, Limits: ten, Cost: -10, Mode: core.Force}) },
		"reset":     func(c cached) { require.NoError(t, c.Reset(t.Context(), ana, ten)) },
	} {
		c := newCached()
		c.exhaust(t, ten)
		c.clock.Advance(2 * time.Second) // it is of age
		c.next.after = func() {
			c.next.after = nil
			giveBack(c)
		}
		require.False(t, charge(t, c, ten, 1).Allowed, name)
		require.True(t, charge(t, c, ten, 1).Allowed, name)
	}
}

// TestNewPlansTakeEffectAtOnce: a refusal under the old ones is none under the
// new ones, whoever asks.
func TestNewPlansTakeEffectAtOnce(t *testing.T) {
	t.Parallel()
	c := newCached(denystore.WithMaxAge(time.Hour))
	plans := core.Plans{Tiers: map[string]core.Quota{"free": core.PerMinute(10), "pro": core.PerMinute(100)}}
	l, err := core.New(c, plans, core.WithClock(c.clock))
	require.NoError(t, err)
	id := core.Identity{Key: "ana", Tier: "free"}
	for range 10 {
		require.True(t, l.Take(t.Context(), id, 1).Allowed())
	}
	for range 3 {
		d := l.Take(t.Context(), id, 1)
		require.Equal(t, http.StatusTooManyRequests, d.Status())
		require.Equal(t, 10, d.Limit.Burst)
	}
	plans.Tiers["free"] = core.PerMinute(10).WithBurst(20)
	require.NoError(t, l.SetPlans(plans))
	require.True(t, l.Take(t.Context(), id, 1).Allowed(), "ten more")

	plans.Tiers["free"] = core.PerMinute(5)
	require.NoError(t, l.SetPlans(plans))
	require.Equal(t, 5, l.Take(t.Context(), id, 1).Limit.Burst, "and fewer")
	require.True(t, l.Take(t.Context(), core.Identity{Key: "ana", Tier: "pro"}, 1).Allowed(), "who pays more is in")

	plans.Overrides = map[string]core.Quota{"ana": core.PerMinute(10).WithBurst(50)}
	require.NoError(t, l.SetPlans(plans))
	require.True(t, l.Take(t.Context(), id, 1).Allowed(), "a deal of her own")
}

// TestARefundThroughALimiterIsSeenAtOnce: the last unit is given back.
func TestARefundThroughALimiterIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	c := newCached()
	l, err := core.New(c, core.Plans{Tiers: map[string]core.Quota{"free": core.PerMinute(2)}}, core.WithClock(c.clock))
	require.NoError(t, err)
	id := core.Identity{Key: "ana", Tier: "free"}
	require.True(t, l.Take(t.Context(), id, 1).Allowed())
	last := l.Take(t.Context(), id, 1)
	require.False(t, l.Take(t.Context(), id, 1).Allowed())
	require.False(t, l.Take(t.Context(), id, 1).Allowed())
	last.Refund(t.Context())
	require.True(t, l.Take(t.Context(), id, 1).Allowed())
}
