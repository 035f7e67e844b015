package echolimit_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/echolimit"
	"github.com/tierlimit/tierlimit/httplimit"
)

func TestWiringFaultsPanicAtStartUp(t *testing.T) {
	l, identify := tenAMinute(), echolimit.ByClientIP("free")
	for want, f := range map[string]func(){
		"echolimit: WithFixedCost(-1), must be at least 0": func() { echolimit.WithFixedCost(-1) },
		"echolimit: WithIPv6Prefix(0), must be 1 to 128":   func() { echolimit.WithIPv6Prefix(0) },
		"echolimit: WithIPv6Prefix(129), must be 1 to 128": func() { echolimit.WithIPv6Prefix(129) },
		"echolimit: Cost(-1), must be at least 0":          func() { echolimit.Cost(-1) },
	} {
		require.PanicsWithValue(t, want, f)
	}
	const missing = "echolimit: New needs a limiter and an IdentifyFunc"
	require.PanicsWithValue(t, missing, func() { echolimit.New(nil, identify) })
	require.PanicsWithValue(t, missing, func() { echolimit.New(l, nil) })
	require.NotPanics(t, func() {
		echolimit.Cost(0)
		echolimit.New(l, identify, echolimit.WithFixedCost(0), echolimit.WithIPv6Prefix(1), echolimit.WithIPv6Prefix(128))
	})
}

// limited answers 404 behind a limiter.
func limited(opts ...echolimit.Option) http.Handler {
	e := echo.New()
	e.Use(echolimit.New(tenAMinute(), echolimit.ByClientIP("free"), opts...))
	return e
}

func TestLaterOptionsWin(t *testing.T) {
	h := limited(echolimit.WithFixedCost(7), echolimit.WithFixedCost(3), echolimit.WithHeaders(nil), echolimit.WithHeaders(httplimit.XRateLimitDelta))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	require.Equal(t, http.StatusNotFound, w.Code)
	require.Equal(t, "7", w.Header().Get("X-RateLimit-Remaining"))
	require.Equal(t, "18", w.Header().Get("X-RateLimit-Reset"))
}

func TestNilHeadersWriteNothing(t *testing.T) {
	h := limited(echolimit.WithFixedCost(10), echolimit.WithHeaders(nil))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	require.Empty(t, w.Header().Values("X-RateLimit-Limit"))
	w = httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	require.Equal(t, http.StatusTooManyRequests, w.Code)
	require.Equal(t, http.Header{"Content-Type": {"application/json"}, "Retry-After": {"60"}}, w.Header())
}

func TestAddressesOfOnePrefixShareABucket(t *testing.T) {
	for _, c := range []struct {
		bits   int
		peers  [2]string
		shared bool
	}{
		{64, [2]string{"[2001:db8:1:2::1]:1", "[2001:db8:1:2:ffff::9]:1"}, true},
		{64, [2]string{"[2001:db8:1:2::1]:1", "[2001:db8:1:3::1]:1"}, false},
		{56, [2]string{"[2001:db8:1:2::1]:1", "[2001:db8:1:3::1]:1"}, true},
		{64, [2]string{"198.51.100.7:1", "[::ffff:198.51.100.7]:2"}, true},
		{64, [2]string{"@", "@"}, true}, // a Unix socket is one caller
	} {
		h := limitedNobody(echolimit.WithFixedCost(10), echolimit.WithIPv6Prefix(c.bits))
		codes := [2]int{}
		for i, peer := range c.peers {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = peer
			r.Header.Set("X-Forwarded-For", "203.0.113."+string(rune('1'+i)))
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			codes[i] = w.Code
		}
		second := http.StatusNotFound
		if c.shared {
			second = http.StatusTooManyRequests
		}
		require.Equal(t, [2]int{http.StatusNotFound, second}, codes, c.peers)
	}
}

// limitedNobody is limited for callers that are known by their address alone.
func limitedNobody(opts ...echolimit.Option) http.Handler {
	l, err := tenAMinute().With(core.OnMissing(core.UseDefault))
	if err != nil {
		panic(err)
	}
	e := echo.New()
	e.Use(echolimit.New(l, func(echo.Context) (core.Identity, error) { return core.Identity{}, nil }, opts...))
	return e
}
