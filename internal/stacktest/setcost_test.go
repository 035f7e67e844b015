package stacktest_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/stacktest"
)

// before is a middleware that does something and goes on.
func before(f func(c *stacktest.Call)) stacktest.Around {
	return func(c *stacktest.Call, next func() error) error {
		f(c)
		return next()
	}
}

func TestSetCostBeforeTheCheckIsThePrice(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		price := 0
		set := before(func(c *stacktest.Call) { c.SetCost(3); c.SetCost(price) })
		h := s.Build(stacktest.Service{Use: layers(set, limit(w.limiter)), Routes: routes(route("/x", ok))})
		for _, step := range []struct{ cost, status, left int }{{4, 200, 6}, {0, 200, 6}, {7, 429, 6}, {6, 200, 0}, {0, 200, 0}, {11, 403, 0}, {-1, 500, 0}} {
			price = step.cost
			a := get(h, "/x", key("key_ana"))
			require.Equal(t, step.status, a.Status, step)
			require.Equal(t, step.left, w.left(ana), step)
			if step.status == 500 {
				a.says(t, `{"error":"Internal Server Error"}`)
				require.Empty(t, a.rate())
			}
		}
	})
}

// What a handler sets is settled, and the next request shows it.
func TestSetCostInTheHandlerIsSettled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		var costs []int
		h := s.Build(stacktest.Service{Use: layers(limit(w.limiter)), Routes: routes(
			route("/chat", func(c *stacktest.Call) error {
				for _, n := range costs {
					c.SetCost(n)
				}
				return ok(c)
			}),
			route("/priced", func(c *stacktest.Call) error { c.SetCost(2); return ok(c) }, stacktest.Cost(6)),
		)})
		for _, step := range []struct {
			costs  []int
			status int
			shown  int
			left   int
		}{
			{nil, 200, 9, 9},            // no price: as charged
			{[]int{3}, 200, 8, 6},       // up
			{[]int{5, 9, 0}, 200, 5, 6}, // the last counts, down to nothing
			{[]int{1}, 200, 5, 5},       // as charged
			{[]int{50}, 200, 4, 0},      // more than there is: what fits
			{[]int{0}, 429, 0, 0},       // a refused handler sets nothing
		} {
			costs = step.costs
			a := get(h, "/chat", key("key_ana"))
			require.Equal(t, step.status, a.Status, step)
			require.Equal(t, step.shown, a.remaining(), step)
			require.Equal(t, step.left, w.left(ana), step)
		}
		w.clock.Advance(time.Minute)
		a := get(h, "/priced", key("key_ana"))
		require.Equal(t, 4, a.remaining())
		require.Equal(t, 8, w.left(ana))
	})
}

func TestSetCostReachesAllLimitersButFixedOnes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		fixed := limitAs(w.limiter, ana)
		fixed.Fixed = new(2)
		h := s.Build(stacktest.Service{Use: layers(limitAs(w.limiter, bea), fixed, limitAs(w.limiter, hugo)), Routes: routes(
			route("/x", func(c *stacktest.Call) error { c.SetCost(7); return ok(c) }),
			route("/y", ok, stacktest.Cost(3)),
		)})
		require.Equal(t, 200, get(h, "/x").Status)
		require.Equal(t, []int{93, 8, 18}, []int{w.left(bea), w.left(ana), w.left(hugo)})
		require.Equal(t, 200, get(h, "/y").Status)
		require.Equal(t, []int{90, 6, 15}, []int{w.left(bea), w.left(ana), w.left(hugo)})
	})
}

func TestSetCostCountsWhenTheHandlerPanics(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		h := s.Build(stacktest.Service{Use: layers(limit(w.limiter)), Routes: routes(
			route("/up", func(c *stacktest.Call) error { c.SetCost(4); panic("boom") }),
			route("/down", func(c *stacktest.Call) error { c.SetCost(0); panic("boom") }),
			route("/none", func(*stacktest.Call) error { panic(http.ErrAbortHandler) }),
		)})
		require.PanicsWithValue(t, "boom", func() { get(h, "/up", key("key_ana")) })
		require.Equal(t, 6, w.left(ana))
		require.PanicsWithValue(t, "boom", func() { get(h, "/down", key("key_ana")) })
		require.Equal(t, 6, w.left(ana))
		require.PanicsWithValue(t, http.ErrAbortHandler, func() { get(h, "/none", key("key_ana")) })
		require.Equal(t, 5, w.left(ana))
	})
}

func TestSetCostCountsWhenTheClientIsGone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		ctx, cancel := context.WithCancel(t.Context())
		h := s.Build(stacktest.Service{Use: layers(limit(w.limiter)), Routes: routes(
			route("/x", func(c *stacktest.Call) error {
				cancel()
				<-c.Request.Context().Done()
				c.SetCost(6)
				return ok(c)
			}),
		)})
		get(h, "/x", key("key_ana"), under(ctx))
		require.Equal(t, 4, w.left(ana))
	})
}

// A client that hangs up between the check and a Cost gets no quota out of it.
func TestCostAfterTheClientIsGone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		ctx, cancel := context.WithCancel(t.Context())
		served := 0
		h := s.Build(counting(stacktest.Service{
			Use:    layers(limitAs(w.limiter, bea), limitAs(w.limiter, ana), before(func(*stacktest.Call) { cancel() })),
			Routes: routes(route("/x", ok, stacktest.Cost(5))),
		}, &served))
		a := get(h, "/x", under(ctx))
		require.Equal(t, 499, a.Status)
		require.Empty(t, a.Body)
		require.Empty(t, a.rate())
		require.Zero(t, served)
		require.Equal(t, []int{100, 10}, []int{w.left(bea), w.left(ana)})
	})
}

func TestSetCostFromAnotherGoroutine(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		h := s.Build(stacktest.Service{Use: layers(limit(w.limiter)), Routes: routes(
			route("/x", func(c *stacktest.Call) error {
				done := make(chan struct{})
				go func() {
					defer close(done)
					for n := range 8 {
						c.SetCost(n)
						c.Decision()
					}
				}()
				c.SetCost(5)
				c.Decision()
				<-done
				c.SetCost(3)
				return ok(c)
			}),
		)})
		require.Equal(t, 200, get(h, "/x", key("key_ana")).Status)
		require.Equal(t, 7, w.left(ana))
	})
}

func TestSetCostBelowZeroInTheHandlerIsLogged(t *testing.T) {
	inTurn(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		logs := captureLog(t)
		w := newWorld(t)
		h := s.Build(stacktest.Service{Use: layers(limit(w.limiter)), Routes: routes(
			route("/x", func(c *stacktest.Call) error { c.SetCost(4); c.SetCost(-3); return ok(c) }),
		)})
		require.Equal(t, 200, get(h, "/x", key("key_ana")).Status)
		require.Equal(t, 9, w.left(ana))
		require.Equal(t, 1, logs.count("cost=-3"))
		require.NotContains(t, logs.String(), "key_ana")
	})
}

// c.Set with the adapter's key, in the two stacks that have one.
func TestCostKey(t *testing.T) {
	inTurn(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		if s.Name == "nethttp" {
			t.Skip("net/http has no context keys that a handler could set")
		}
		logs := captureLog(t)
		w := newWorld(t)
		var value any
		set := before(func(c *stacktest.Call) { c.SetKey(value) })
		dear := limit(w.limiter)
		dear.Cost = func(*http.Request) int { return 2 }
		h := s.Build(stacktest.Service{Routes: routes(
			route("/plain", ok, dear),
			route("/before", ok, set, dear),
			route("/after", ok, dear, set),
			route("/cost", ok, set, dear, stacktest.Cost(6)),
			route("/costbefore", ok, stacktest.Cost(6), set, dear),
		)})
		for _, step := range []struct {
			path         string
			value        any
			status, took int
			logged       int
		}{
			{"/plain", nil, 200, 2, 0},
			{"/before", 5, 200, 5, 0},
			{"/before", 0, 200, 0, 0},
			{"/before", "5", 500, 0, 0},
			{"/before", int64(5), 500, 0, 0},
			{"/before", 5.0, 500, 0, 0},
			{"/before", -1, 500, 0, 0},
			{"/before", 11, 403, 0, 0},
			{"/after", 5, 200, 5, 0},
			{"/after", 0, 200, 0, 0},
			{"/after", "5", 200, 2, 1},
			{"/after", -1, 200, 2, 1},
			{"/after", uint(3), 200, 2, 1},
			{"/cost", 3, 200, 6, 0},
			{"/costbefore", 3, 200, 3, 0},
		} {
			value = step.value
			earlier := logs.count("cost=")
			a := get(h, step.path, key("key_ana"))
			require.Equal(t, step.status, a.Status, "%+v", step)
			require.Equal(t, 10-step.took, w.left(ana), "%+v", step)
			require.Equal(t, step.logged, logs.count("cost=")-earlier, "%+v\n%s", step, logs)
			if step.status == 500 {
				a.says(t, `{"error":"Internal Server Error"}`)
				require.Empty(t, a.rate())
			}
			w.clock.Advance(time.Minute)
		}
	})
}
