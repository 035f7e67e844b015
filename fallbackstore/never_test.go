package fallbackstore_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fallbackstore"
	"github.com/tierlimit/tierlimit/httplimit"
)

// TestACostThatNoShareHoldsIsRefusedAndPromisedNothing: /report at 5 of 10 fits
// into half of it and not into a third.
func TestACostThatNoShareHoldsIsRefusedAndPromisedNothing(t *testing.T) {
	t.Parallel()
	for _, quota := range []core.Quota{
		core.PerMinute(10),
		core.PerMinute(10).Using(core.FixedWindow),
		core.PerMinute(10).Using(core.SlidingLog),
		core.PerSecond(20).And(core.PerMinute(10)),
	} {
		for share, allowed := range map[float64]bool{1: true, 0.5: true, 1.0 / 3: false} {
			p := newPair(fallbackstore.WithShare(share))
			p.primary.fail(errAway)
			for _, mode := range []core.Mode{core.Look, core.Charge} {
				res := take(t, p, core.Request{Key: ana, Limits: quota.Limits(), Cost: 5, Mode: mode})
				require.Equal(t, allowed, res.Allowed, "%v of %s", share, quota)
				require.True(t, res.Degraded)
				for _, level := range res.Levels {
					require.Zero(t, level.RetryAfter, "waiting does not help")
				}
			}
			// What fits at another time is told when.
			for charge(t, p, quota.Limits(), 1).Allowed {
			}
			res := charge(t, p, quota.Limits(), 2)
			require.Positive(t, max(res.Levels[0].RetryAfter, res.Levels[1].RetryAfter))
		}
	}
}

// TestWhoCanNeverBeServedLocallyIsToldNoTime to come back: 429 without
// Retry-After, again and again, until the shared store is back.
func TestWhoCanNeverBeServedLocallyIsToldNoTime(t *testing.T) {
	t.Parallel()
	p := newPair(fallbackstore.WithShare(0.25))
	l, _ := limiterOver(t, p)
	identify := func(*http.Request) (core.Identity, error) { return id, nil }
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for name, h := range map[string]http.Handler{
		"up front": httplimit.New(l, identify, httplimit.WithCost(func(*http.Request) int { return 5 }))(ok),
		"behind":   httplimit.New(l, identify)(httplimit.Cost(5)(ok)),
		"problem": httplimit.New(l, identify, httplimit.WithRefused(httplimit.Problem),
			httplimit.WithCost(func(*http.Request) int { return 5 }))(ok),
	} {
		ask := func() *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/report", nil))
			return w
		}
		p.primary.fail(errAway)
		for range 3 {
			w := ask()
			require.Equal(t, http.StatusTooManyRequests, w.Code, name)
			require.NotContains(t, w.Header(), "Retry-After", name)
			require.NotContains(t, w.Body.String(), "retry", name)
			if name != "problem" {
				require.JSONEq(t, `{"error":"rate limit exceeded","tier":"free"}`, w.Body.String(), name)
			}
			p.clock.Advance(90 * time.Second)
		}
		p.primary.fail(nil)
		require.Equal(t, http.StatusOK, ask().Code, "%s: of the shared bucket", name)
		p.clock.Advance(time.Minute)
	}
}

// TestWhatARaiseMayWaitForIsTold: what is left of the share, and what others took
// of it.
func TestWhatARaiseMayWaitForIsTold(t *testing.T) {
	t.Parallel()
	for _, quota := range []core.Quota{
		core.PerMinute(20),
		core.PerMinute(20).Using(core.FixedWindow),
		core.PerMinute(20).Using(core.SlidingLog),
	} {
		p := newPair(fallbackstore.WithShare(0.25))
		l, err := core.New(p, core.Plans{Tiers: map[string]core.Quota{"free": quota}}, core.WithClock(p.clock))
		require.NoError(t, err)
		p.primary.fail(errAway)
		for cost, waits := range map[int]bool{4: true, 5: true, 6: false, 7: false, 20: false} {
			require.ErrorIs(t, l.Reset(t.Context(), id), errAway)
			require.True(t, l.Take(t.Context(), id, 2).Allowed())
			d := l.Take(t.Context(), id, 1).Raise(t.Context(), cost)
			require.Equal(t, core.OverQuota, d.Outcome)
			require.Equal(t, waits, d.Level.RetryAfter > 0, "%s, cost %d: %v", quota, cost, d.Level)
			if waits {
				p.clock.Advance(d.Level.RetryAfter)
				require.True(t, l.Take(t.Context(), id, 1).Raise(t.Context(), cost).Allowed(), "%s, cost %d", quota, cost)
			}
		}
	}
}

// TestARaiseThatNoShareHoldsIsPromisedNothing, whichever store charged its first
// part: the share holds 5, of which another request has 1.
func TestARaiseThatNoShareHoldsIsPromisedNothing(t *testing.T) {
	t.Parallel()
	for _, s := range []struct {
		name string
		away bool // already when the first unit is charged
		then int  // what it is raised to first
	}{
		{"the shared store", false, 1},
		{"both", false, 3},
		{"the local store", true, 1},
	} {
		p := newPair(fallbackstore.WithShare(0.5))
		l, _ := limiterOver(t, p)
		p.primary.fail(errAway)
		require.True(t, l.Take(t.Context(), id, 1).Allowed())
		if !s.away {
			p.primary.fail(nil)
		}
		d := l.Take(t.Context(), id, 1)
		require.Equal(t, s.away, d.Degraded)
		p.primary.fail(errAway)
		d = d.Raise(t.Context(), s.then)
		require.True(t, d.Allowed(), s.name)
		d = d.Raise(t.Context(), 6)
		require.Equal(t, core.OverQuota, d.Outcome, s.name)
		require.Zero(t, d.Level.RetryAfter, "%s: a full share does not hold 6", s.name)
	}
}
