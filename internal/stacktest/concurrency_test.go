package stacktest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/stacktest"
)

func TestExactlyTheLimitPasses(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		for round := range 5 {
			w := newWorld(t)
			price, dear := 1, 2
			h := s.Build(stacktest.Service{Use: layers(limit(w.limiter)), Groups: []stacktest.Group{{Prefix: "/v1", Use: layers(limit(w.limiter)), Routes: routes(
				route("/x", ok), route("/dear", ok, stacktest.Cost(dear)),
			)}}})
			path := "/v1/x"
			if round == 4 {
				path, price = "/v1/dear", dear
			}
			var passed, refused atomic.Int32
			var wg sync.WaitGroup
			for range 200 {
				wg.Go(func() {
					switch get(h, path, key("key_bea")).Status {
					case 200:
						passed.Add(1)
					case 429:
						refused.Add(1)
					}
				})
			}
			wg.Wait()
			require.EqualValues(t, 200, passed.Load()+refused.Load())
			if price == 1 {
				require.EqualValues(t, 100, passed.Load())
				require.Equal(t, 0, w.left(bea))
				continue
			}
			// Behind the limiter a unit is held while the rest is asked for, so
			// that some may be refused which would fit alone. Nothing is lost.
			require.LessOrEqual(t, int(passed.Load())*price, 100)
			require.Equal(t, 100-int(passed.Load())*price, w.left(bea))
		}
	})
}

// A handler that outlives the middleware around it: http.TimeoutHandler
// between the limiter and the Cost, and around everything.
func TestHandlersThatOutliveTheMiddleware(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		var running sync.WaitGroup
		gate := make(chan struct{})
		slow := s.Build(stacktest.Service{Use: layers(limitAs(w.limiter, bea)), Routes: routes(
			route("/x", func(c *stacktest.Call) error {
				<-gate
				c.SetCost(3)
				c.Decision()
				return ok(c)
			}, stacktest.Cost(2)),
		)})
		// Where the time is over before the check, the handler never runs.
		inner := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer running.Done()
			slow.ServeHTTP(w, r)
		})
		outer := limitAs(w.limiter, ana)
		outer.Refund = failed
		slowly := func(c *stacktest.Call) error {
			http.TimeoutHandler(inner, time.Millisecond, "too slow").ServeHTTP(c.Writer, c.Request)
			return nil
		}
		between := stacktest.NetHTTP(stacktest.Service{Use: layers(outer, stacktest.Cost(1)), Routes: routes(route("/", slowly))})
		around := http.TimeoutHandler(inner, time.Millisecond, "too slow")
		for _, h := range []http.Handler{between, around} {
			for range 20 {
				running.Add(1)
				require.Equal(t, 503, get(h, "/x").Status)
			}
		}
		close(gate)
		running.Wait()
		require.Equal(t, 10, w.left(ana), "the outer limiter refunds what timed out")
	})
}

// Raise and Settle at the same time, again and again.
func TestRaiseRacesSettle(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		for range 100 {
			begin := make(chan struct{})
			var wg sync.WaitGroup
			inner := s.Build(stacktest.Service{Routes: routes(route("/x", func(c *stacktest.Call) error { c.SetCost(7); return ok(c) }, stacktest.Cost(5)))})
			h := s.Build(stacktest.Service{Use: layers(limitAs(w.limiter, bea)), Routes: routes(route("/x", func(c *stacktest.Call) error {
				r := c.Request.Clone(c.Request.Context())
				wg.Go(func() {
					<-begin
					inner.ServeHTTP(httptest.NewRecorder(), r)
				})
				close(begin)
				return ok(c)
			}))})
			require.Equal(t, 200, get(h, "/x").Status)
			wg.Wait()
			require.Contains(t, []int{93, 95, 99}, w.left(bea))
			require.NoError(t, w.limiter.Reset(t.Context(), bea))
		}
	})
}

// Observers, prices and handlers may ask for the decision at any time.
func TestObserversMayAskForTheDecision(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		var asked atomic.Int32
		w := newWorld(t, core.WithObserver(func(ctx context.Context, _ core.Event) {
			decisionIn(ctx)
			asked.Add(1)
		}), core.WithObserver(func(context.Context, core.Event) { panic("an observer's own") }))
		l := limit(w.limiter)
		l.Refund = func(int) bool { return false }
		l.Headers = func(h http.Header, d core.Decision) { h.Set("X-Own-Left", itoa(d.Level.Remaining)) }
		h := s.Build(stacktest.Service{Use: layers(l), Routes: routes(route("/x", func(c *stacktest.Call) error { c.SetCost(7); return ok(c) }, stacktest.Cost(5)))})
		done := make(chan answer)
		go func() { done <- get(h, "/x", key("key_ana")) }()
		select {
		case a := <-done:
			require.Equal(t, 200, a.Status)
			require.Equal(t, []string{"X-Own-Left: 5"}, a.rate())
		case <-time.After(10 * time.Second):
			t.Fatal("deadlock")
		}
		require.EqualValues(t, 3, asked.Load(), "the check, the raise, the settlement")
		require.Equal(t, 3, w.left(ana))
	})
}
