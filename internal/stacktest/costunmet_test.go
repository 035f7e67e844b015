package stacktest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/stacktest"
)

func TestCostThatMetNoLimiterIsLoggedOnce(t *testing.T) {
	inTurn(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		logs := captureLog(t)
		w := newWorld(t)
		fixed := limit(w.limiter)
		fixed.Fixed = new(1)
		h := s.Build(stacktest.Service{Routes: routes(
			route("/alone", ok, stacktest.Cost(3)),
			route("/also", ok, stacktest.Cost(4)),
			route("/fixed", ok, fixed, stacktest.Cost(5)),
			route("/before", ok, stacktest.Cost(6), fixed),
			route("/fine", ok, stacktest.Cost(7), limit(w.limiter)),
			route("/refused", ok, stacktest.Cost(70), limit(w.limiter)),
		)})
		for range 3 {
			for _, path := range []string{"/alone", "/also", "/fixed", "/before", "/fine", "/refused"} {
				get(h, path, key("key_ana"))
			}
		}
		for cost, times := range map[string]int{"cost=3": 1, "cost=4": 1, "cost=5": 1, "cost=6": 1, "cost=7": 0, "cost=70": 0} {
			require.Equal(t, times, logs.count(cost+"\n"), "%s\n%s", cost, logs)
		}
		require.NotContains(t, logs.String(), "key_ana")
	})
}

// Before the limiter that skips; behind it see TestCostBehindASkippingLimiter.
func TestCostThatMetASkippingLimiterIsNotLogged(t *testing.T) {
	inTurn(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		logs := captureLog(t)
		w := newWorld(t)
		skipping := limit(w.limiter)
		skipping.Skip = func(*http.Request) bool { return true }
		h := s.Build(stacktest.Service{Routes: routes(route("/x", ok, stacktest.Cost(3), skipping))})
		require.Equal(t, 200, get(h, "/x", key("key_ana")).Status)
		require.Zero(t, logs.count("no limiter"))
		require.Zero(t, w.store.calls())
	})
}
