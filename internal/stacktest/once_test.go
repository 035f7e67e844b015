package stacktest_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/httplimit"
	"github.com/tierlimit/tierlimit/internal/stacktest"
	"github.com/tierlimit/tierlimit/memstore"
)

// thrice installs three limiters on the server, a group and a route.
func thrice(s stacktest.Stack, a, b, c stacktest.Limit, layers ...stacktest.Layer) http.Handler {
	return s.Build(stacktest.Service{
		Use: []stacktest.Layer{a},
		Groups: []stacktest.Group{{
			Prefix: "/v1",
			Use:    []stacktest.Layer{b},
			Routes: routes(route("/x", ok, append([]stacktest.Layer{c}, layers...)...)),
		}},
	})
}

func TestABucketIsChargedOnceARequest(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		child := w.with(core.OnMissing(core.Deny(401)))
		for name, h := range map[string]http.Handler{
			"the same":            thrice(s, limit(w.limiter), limit(w.limiter), limit(w.limiter)),
			"made by With":        thrice(s, limit(w.limiter), limit(child), limit(child)),
			"another, same store": thrice(s, limit(w.limiter), limit(anotherLimiter(t, w)), limit(w.limiter)),
		} {
			a := get(h, "/v1/x", key("key_ana"))
			require.Equal(t, 200, a.Status, name)
			require.Equal(t, rate("10", "9", unix(w, 6)), a.rate(), name)
			require.Equal(t, 9, w.left(ana), name)
			w.clock.Advance(time.Minute)
		}
		h := thrice(s, limit(w.limiter), limit(w.limiter), limit(w.limiter), stacktest.Cost(4))
		require.Equal(t, 6, get(h, "/v1/x", key("key_ana")).remaining())
		require.Equal(t, 6, w.left(ana))
		for range 3 {
			get(h, "/v1/x", key("key_ana"))
		}
		require.Equal(t, 2, w.left(ana))
	})
}

func anotherLimiter(t *testing.T, w *world) *core.Limiter {
	t.Helper()
	l, err := core.New(w.store, plans, core.WithClock(w.clock))
	require.NoError(t, err)
	return l
}

// unix is when a bucket is full that needs so many seconds.
func unix(w *world, seconds int) string { return itoa(int(w.clock.Now().Unix()) + seconds) }

func TestDifferentBucketsAreBothCharged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		scoped := w.with(core.WithScope("v1"))
		h := thrice(s, limit(w.limiter), limit(scoped), stacktest.Limit{Limiter: w.limiter, Identify: byAddress("address")}, stacktest.Cost(2))
		a := get(h, "/v1/x", key("key_ana"))
		require.Equal(t, 200, a.Status)
		require.Equal(t, []int{8, 8, 58}, []int{w.left(ana), remaining(t, scoped, ana), w.left(core.Identity{Key: "192.0.2.1", Tier: "address"})})
		require.Equal(t, rate("10", "8", "1790000012"), a.rate())
	})
}

// A later meeting with a higher price raises the bucket.
func TestALaterMeetingRaisesThePrice(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		priced := func(n int) stacktest.Limit {
			l := limit(w.limiter)
			l.Cost = func(*http.Request) int { return n }
			return l
		}
		h := thrice(s, priced(2), priced(7), priced(3))
		require.Equal(t, 3, get(h, "/v1/x", key("key_ana")).remaining())
		require.Equal(t, 3, w.left(ana))
		a := get(h, "/v1/x", key("key_ana"))
		require.Equal(t, 429, a.Status)
		require.Equal(t, body429("free", 24), a.Body)
		require.Equal(t, 3, w.left(ana))
	})
}

// What a later limiter refuses is given back by the earlier ones, whatever
// the reason.
func TestARefusalGivesBackWhatEarlierLimitersTook(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		failing := stacktest.Limit{Limiter: w.limiter, Identify: func(*http.Request) (core.Identity, error) {
			return core.Identity{}, errors.New("the database is away: secret")
		}}
		tooLarge := stacktest.Limit{Limiter: w.limiter, Identify: func(*http.Request) (core.Identity, error) {
			return core.Identity{}, httplimit.ErrBodyTooLarge
		}}
		for name, step := range map[string]struct {
			last   stacktest.Limit
			status int
		}{
			"blocked":        {limitAs(w.limiter, accounts["key_banned"]), 403},
			"unknown tier":   {limitAs(w.with(core.OnUnknownTier(core.Deny(402))), accounts["key_eva"]), 402},
			"missing":        {limitAs(w.with(core.OnMissing(core.Deny(401))), core.Identity{}), 401},
			"identify error": {failing, 503},
			"body too large": {tooLarge, 413},
		} {
			h := thrice(s, limitAs(w.limiter, bea), limitAs(w.limiter, hugo), step.last)
			for range 3 {
				a := get(h, "/v1/x")
				require.Equal(t, step.status, a.Status, name)
				require.Empty(t, a.rate(), name)
				require.NotContains(t, a.Body, "secret", name)
				require.Equal(t, []int{100, 25}, []int{w.left(bea), w.left(hugo)}, name)
			}
		}
		w.limiter.Take(t.Context(), ana, 10)
		a := get(thrice(s, limitAs(w.limiter, bea), limitAs(w.limiter, hugo), limitAs(w.limiter, ana)), "/v1/x")
		require.Equal(t, 429, a.Status)
		require.Equal(t, append([]string{"Retry-After: 6"}, rate("10", "0", "1790000060")...), a.rate())
		require.Equal(t, []int{100, 25, 0}, []int{w.left(bea), w.left(hugo), w.left(ana)})
	})
}

func TestAMeetingThatFailedOpenIsAskedAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		failures := 1
		w.store.failWith(func(core.Request) error {
			failures--
			if failures >= 0 {
				return errors.New("away")
			}
			return nil
		})
		h := thrice(s, limit(w.limiter), limit(w.limiter), limit(w.limiter))
		require.Equal(t, 9, get(h, "/v1/x", key("key_ana")).remaining())
		require.Equal(t, 9, w.left(ana))

		failures = 2
		denying := w.with(core.OnStorageError(core.Deny(503)))
		a := get(thrice(s, limit(w.limiter), limit(denying), limit(w.limiter)), "/v1/x", key("key_ana"))
		require.Equal(t, 503, a.Status)
		a.says(t, `{"error":"service unavailable"}`)
	})
}

// Different stores never meet, equal names or not.
func TestEqualBucketsOfTwoStoresAreBothCharged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		clock := fakeclock.New(start)
		var limiters []*core.Limiter
		for range 2 {
			l, err := core.New(memstore.New(memstore.WithClock(clock)), plans, core.WithClock(clock))
			require.NoError(t, err)
			limiters = append(limiters, l)
		}
		h := s.Build(stacktest.Service{Use: layers(limit(limiters[0]), limit(limiters[1])), Routes: routes(route("/x", ok))})
		get(h, "/x", key("key_ana"))
		require.Equal(t, []int{9, 9}, []int{remaining(t, limiters[0], ana), remaining(t, limiters[1], ana)})
	})
}

// Unknown paths and wrong methods are charged where the limiter covers the
// server, and refused like any other.
func TestUnknownPathsAreCharged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		h := s.Build(stacktest.Service{
			Use:    layers(limit(w.limiter)),
			Routes: []stacktest.Route{{Method: http.MethodGet, Path: "/x", Handle: ok}},
			Groups: []stacktest.Group{{Prefix: "/v1", Use: layers(limit(w.limiter)), Routes: []stacktest.Route{{Method: http.MethodGet, Path: "/x", Handle: ok}}}},
		})
		require.Equal(t, 404, get(h, "/guess", key("key_ana")).Status)
		require.Equal(t, 9, w.left(ana))
		require.Equal(t, 405, call(h, http.MethodPost, "/x", key("key_ana")).Status)
		require.Equal(t, 8, w.left(ana))
		// Echo answers 404 here, because group middleware registers a catch-all
		// below the prefix; charged once all the same.
		get(h, "/v1/guess", key("key_ana"))
		require.Equal(t, 7, w.left(ana))
		for range 7 {
			require.Equal(t, 404, get(h, "/guess", key("key_ana")).Status)
		}
		a := get(h, "/guess", key("key_ana"))
		require.Equal(t, 429, a.Status)
		require.Equal(t, body429("free", 6), a.Body)
		a = call(h, http.MethodDelete, "/x", key("key_ana"))
		require.Equal(t, 429, a.Status)
		require.Equal(t, body429("free", 6), a.Body)
	})
}

// On a group or route alone the rest of the server is free.
func TestALimiterCoversWhereItIsInstalled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		h := s.Build(stacktest.Service{
			Routes: routes(route("/open", ok), route("/x", ok, limit(w.limiter))),
			Groups: []stacktest.Group{{Prefix: "/v1", Use: layers(limit(w.limiter)), Routes: routes(route("/x", ok))}},
		})
		for path, left := range map[string]int{"/open": -1, "/nowhere": -1} {
			require.Equal(t, left, get(h, path, key("key_ana")).remaining(), path)
		}
		require.Equal(t, 9, get(h, "/x", key("key_ana")).remaining())
		require.Equal(t, 8, get(h, "/v1/x", key("key_ana")).remaining())
	})
}
