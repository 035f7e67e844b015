package httplimit_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
)

func TestWiringFaultsPanicAtStartUp(t *testing.T) {
	t.Parallel()
	l := newLimiter(t, core.PerMinute(10))
	identify := httplimit.ByClientIP("free")
	for want, f := range map[string]func(){
		"httplimit: New needs a limiter and an IdentifyFunc": func() { httplimit.New(nil, identify) },
		"httplimit: WithFixedCost(-1), must be at least 0":   func() { httplimit.WithFixedCost(-1) },
		"httplimit: WithIPv6Prefix(0), must be 1 to 128":     func() { httplimit.WithIPv6Prefix(0) },
		"httplimit: WithIPv6Prefix(129), must be 1 to 128":   func() { httplimit.WithIPv6Prefix(129) },
		"httplimit: WithIPv6Prefix(-1), must be 1 to 128":    func() { httplimit.WithIPv6Prefix(-1) },
		"httplimit: Cost(-1), must be at least 0":            func() { httplimit.Cost(-1) },
	} {
		require.PanicsWithValue(t, want, f)
	}
	require.PanicsWithValue(t, "httplimit: New needs a limiter and an IdentifyFunc", func() { httplimit.New(l, nil) })
	require.NotPanics(t, func() {
		httplimit.Cost(0)
		httplimit.New(l, identify, httplimit.WithFixedCost(0), httplimit.WithIPv6Prefix(1), httplimit.WithIPv6Prefix(128))
	})
}

func TestLaterOptionsWin(t *testing.T) {
	t.Parallel()
	limited := httplimit.New(newLimiter(t, core.PerMinute(10)), httplimit.ByClientIP("free"),
		httplimit.WithFixedCost(7), httplimit.WithFixedCost(3),
		httplimit.WithHeaders(nil), httplimit.WithHeaders(httplimit.XRateLimitDelta),
	)(http.NotFoundHandler())
	rec := httptest.NewRecorder()
	limited.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/", nil))
	require.Equal(t, "7", rec.Header().Get("X-RateLimit-Remaining"))
	require.Equal(t, "18", rec.Header().Get("X-RateLimit-Reset"))
}

func TestNilHeadersWriteNothing(t *testing.T) {
	t.Parallel()
	limited := httplimit.New(newLimiter(t, core.PerMinute(1)), httplimit.ByClientIP("free"), httplimit.WithHeaders(nil))(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, want := range []http.Header{{}, {"Content-Type": {"application/json"}, "Retry-After": {"60"}}} {
		rec := httptest.NewRecorder()
		limited.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/", nil))
		require.Equal(t, want, rec.Header())
	}
}
