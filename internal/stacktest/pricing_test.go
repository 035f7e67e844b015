package stacktest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/stacktest"
)

// Context price, then WithCost, then 1.
func TestPrecedenceOfPrices(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		dear := limit(w.limiter)
		dear.Cost = func(*http.Request) int { return 4 }
		negative := limit(w.limiter)
		negative.Cost = func(*http.Request) int { return -4 }
		h := s.Build(stacktest.Service{Routes: routes(
			route("/none", ok, limit(w.limiter)),
			route("/with", ok, dear),
			route("/cost", ok, stacktest.Cost(2), dear),
			route("/set", ok, stacktest.Cost(2), before(func(c *stacktest.Call) { c.SetCost(3) }), dear),
			route("/negative", ok, negative),
		)})
		for path, took := range map[string]int{"/none": 1, "/with": 4, "/cost": 2, "/set": 3} {
			require.Equal(t, 10-took, get(h, path, key("key_ana")).remaining(), path)
			w.clock.Advance(time.Minute)
		}
		require.Equal(t, 500, get(h, "/negative", key("key_ana")).Status)
		require.Equal(t, 10, w.left(ana))
	})
}

// One store call for WithCost; two for a Cost behind the limiter.
func TestStoreCallsByWayOfPricing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		dear := limit(w.limiter)
		dear.Cost = func(*http.Request) int { return 4 }
		h := s.Build(stacktest.Service{Routes: routes(
			route("/none", ok, limit(w.limiter)),
			route("/with", ok, dear),
			route("/before", ok, stacktest.Cost(2), limit(w.limiter)),
			route("/behind", ok, limit(w.limiter), stacktest.Cost(2)),
			route("/set", func(c *stacktest.Call) error { c.SetCost(2); return ok(c) }, limit(w.limiter)),
			route("/same", func(c *stacktest.Call) error { c.SetCost(1); return ok(c) }, limit(w.limiter)),
			route("/twice", ok, limit(w.limiter), limit(w.limiter)),
		)})
		for path, calls := range map[string]int{"/none": 1, "/with": 1, "/before": 1, "/behind": 2, "/set": 2, "/same": 1, "/twice": 1} {
			earlier := w.store.calls()
			require.Equal(t, 200, get(h, path, key("key_bea")).Status)
			require.Equal(t, calls, w.store.calls()-earlier, path)
		}
	})
}
