package stacktest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/echolimit"
	"github.com/tierlimit/tierlimit/ginlimit"
	"github.com/tierlimit/tierlimit/httplimit"
	"github.com/tierlimit/tierlimit/internal/stacktest"
)

// A Cost behind a limiter that skips the request.
func TestCostBehindASkippingLimiter(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		l := limit(w.limiter)
		l.Skip = func(r *http.Request) bool { return r.URL.Path == "/health" }
		h := s.Build(stacktest.Service{Use: layers(l), Routes: routes(
			route("/health", ok, stacktest.Cost(5)), route("/x", ok, stacktest.Cost(5)),
		)})
		require.Equal(t, 200, get(h, "/health").Status)
		preflight := call(h, http.MethodOptions, "/x", header("Origin", "https://a.example"), header("Access-Control-Request-Method", "GET"))
		require.Equal(t, 200, preflight.Status)
	})
}

// A price that is set before HandleContext wipes Gin's keys, where the limiter
// stands on the second route.
func TestHandleContextKeepsAPriceThatNoLimiterHasSeen(t *testing.T) {
	t.Parallel()
	for name, price := range map[string]gin.HandlerFunc{
		"Cost":    ginlimit.Cost(5),
		"SetCost": func(c *gin.Context) { ginlimit.SetCost(c, 5) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			e := gin.New()
			e.GET("/old", price, func(c *gin.Context) {
				c.Request.URL.Path = "/new"
				e.HandleContext(c)
			})
			e.GET("/new", ginlimit.New(w.limiter, func(*gin.Context) (core.Identity, error) { return ana, nil }), func(c *gin.Context) { c.String(200, "x") })
			require.Equal(t, 200, get(e, "/old").Status)
			require.Equal(t, 5, w.left(ana))
		})
	}
}

// Gin: Cost before the limiter, where the limiter is net/http's further in.
func TestCostReachesALimiterOfAnotherAdapter(t *testing.T) {
	t.Parallel()
	inner := func(w *world) http.Handler {
		return httplimit.New(w.limiter, as(ana))(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	}
	t.Run("gin", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		e := gin.New()
		e.GET("/x", ginlimit.Cost(5), gin.WrapH(inner(w)))
		require.Equal(t, 200, get(e, "/x").Status)
		require.Equal(t, 5, w.left(ana))
	})
	t.Run("echo", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		e := echo.New()
		e.GET("/x", echo.WrapHandler(inner(w)), echolimit.Cost(5))
		require.Equal(t, 200, get(e, "/x").Status)
		require.Equal(t, 5, w.left(ana))
	})
}

// SetCost on a copy, after a Cost on the route: the last call counts.
func TestSetCostOnAGinCopyWinsOverTheRoutesCost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := gin.New()
	e.GET("/x", ginlimit.New(w.limiter, func(*gin.Context) (core.Identity, error) { return ana, nil }), ginlimit.Cost(5), func(c *gin.Context) {
		cp, done := c.Copy(), make(chan struct{})
		go func() {
			defer close(done)
			ginlimit.SetCost(cp, 9)
		}()
		<-done
		c.String(200, "x")
	})
	require.Equal(t, 200, get(e, "/x").Status)
	require.Equal(t, 1, w.left(ana))
}

// A Gin engine inside net/http middleware, limiters on both levels, the inner
// one with WithRefund.
func TestRefundOfAnInnerAdapter(t *testing.T) {
	t.Parallel()
	fails := func(status int) bool { return status >= 500 }
	t.Run("gin", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		e := gin.New()
		e.GET("/x", ginlimit.New(w.limiter, func(*gin.Context) (core.Identity, error) { return bea, nil }, ginlimit.WithRefund(fails)),
			func(c *gin.Context) { c.String(502, "x") })
		h := httplimit.New(w.limiter, as(ana))(e)
		require.Equal(t, 502, get(h, "/x").Status)
		require.Equal(t, 9, w.left(ana))
		require.Equal(t, 100, w.left(bea))
	})
	t.Run("echo", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		e := echo.New()
		e.GET("/x", func(c echo.Context) error { return c.String(502, "x") },
			echolimit.New(w.limiter, func(echo.Context) (core.Identity, error) { return bea, nil }, echolimit.WithRefund(fails)))
		h := httplimit.New(w.limiter, as(ana))(e)
		require.Equal(t, 502, get(h, "/x").Status)
		require.Equal(t, 9, w.left(ana))
		require.Equal(t, 100, w.left(bea))
	})
}

// The same, with c.Set(CostKey) in the handler.
func TestCostKeyInAnInnerAdapter(t *testing.T) {
	t.Parallel()
	t.Run("gin", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		e := gin.New()
		e.GET("/x", ginlimit.New(w.limiter, func(*gin.Context) (core.Identity, error) { return bea, nil }),
			func(c *gin.Context) { c.Set(ginlimit.CostKey, 7) })
		require.Equal(t, 200, get(httplimit.New(w.limiter, as(ana))(e), "/x").Status)
		require.Equal(t, 93, w.left(bea))
	})
	t.Run("echo", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		e := echo.New()
		e.GET("/x", func(c echo.Context) error { c.Set(echolimit.CostKey, 7); return c.NoContent(200) },
			echolimit.New(w.limiter, func(echo.Context) (core.Identity, error) { return bea, nil }))
		require.Equal(t, 200, get(httplimit.New(w.limiter, as(ana))(e), "/x").Status)
		require.Equal(t, 93, w.left(bea))
	})
}

// One httplimit.Cost on two routes is one Cost.
func TestUnmetCostOnTwoRoutesIsLoggedOnce(t *testing.T) {
	logs := captureLog(t)
	price := httplimit.Cost(5)
	mux := http.NewServeMux()
	nothing := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	mux.Handle("/a", price(nothing))
	mux.Handle("/b", price(nothing))
	get(mux, "/a")
	get(mux, "/b")
	require.Equal(t, 1, logs.count("no limiter"))
}

// Cost before limiters of which a fixed one refuses: the price would have been
// heeded by the one behind it.
func TestCostIsNotReportedWhenTheRequestWasRefused(t *testing.T) {
	inTurn(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		logs := captureLog(t)
		w := newWorld(t)
		fixed := limit(w.with(core.WithScope("requests")))
		one := 1
		fixed.Fixed = &one
		h := s.Build(stacktest.Service{Use: layers(stacktest.Cost(1), fixed, limit(w.limiter)), Routes: routes(route("/x", ok))})
		for range 10 {
			require.Equal(t, 200, get(h, "/x", key("key_bea")).Status)
		}
		require.Zero(t, logs.count("no limiter"))
		w.limiter.Take(t.Context(), ana, 1)
		require.Equal(t, 403, get(h, "/x", key("key_banned")).Status)
		require.Zero(t, logs.count("no limiter"))
	})
}

// A limiter that charges a fixed price has the same bucket as one with a free price.
func TestCostHeededWhenAFixedLimiterHasTheSameBucket(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		one := 1
		fixed := limit(w.limiter)
		fixed.Fixed = &one
		h := s.Build(stacktest.Service{Use: layers(fixed, limit(w.limiter), stacktest.Cost(5)), Routes: routes(route("/x", ok))})
		require.Equal(t, 200, get(h, "/x", key("key_ana")).Status)
		require.Equal(t, 5, w.left(ana))
	})
}

// The same limiter on the server, and with WithRefund on a route.
func TestRefundOfARouteThatMeetsAChargedBucket(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		refunding := limit(w.limiter)
		refunding.Refund = func(status int) bool { return status >= 500 }
		fail := func(c *stacktest.Call) error { return c.Text(500, "x") }
		h := s.Build(stacktest.Service{Use: layers(limit(w.limiter)), Routes: routes(route("/x", fail, refunding))})
		require.Equal(t, 500, get(h, "/x", key("key_ana")).Status)
		require.Equal(t, 10, w.left(ana))
	})
}

// Requests that a batch handler makes in process with its own context are part
// of it; with a context of their own they are requests.
func TestASubRequestOfTheSameContextPaysNothingMore(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		l := limit(w.limiter)
		l.Skip = func(r *http.Request) bool { return r.URL.Path == "/batch" }
		var h http.Handler
		own := false
		batch := func(c *stacktest.Call) error {
			for range 5 {
				ctx := c.Request.Context()
				if own {
					ctx = t.Context()
				}
				r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/x", http.NoBody)
				r.Header.Set("X-Api-Key", "key_ana")
				h.ServeHTTP(httptest.NewRecorder(), r)
			}
			return ok(c)
		}
		h = s.Build(stacktest.Service{Use: layers(l), Routes: routes(route("/batch", batch), route("/x", ok))})
		require.Equal(t, 200, get(h, "/batch").Status)
		require.Equal(t, 9, w.left(ana))
		own = true
		require.Equal(t, 200, get(h, "/batch").Status)
		require.Equal(t, 4, w.left(ana))
	})
}

// net/http: the status that counts is the one the client gets.
func TestRefundLooksAtTheAnswerOfTheOutermost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fails := httplimit.WithRefund(func(status int) bool { return status >= 500 })
	turn := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(httptest.NewRecorder(), r)
			w.WriteHeader(http.StatusInternalServerError)
		})
	}
	done := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	h := httplimit.New(w.limiter, as(ana), fails)(turn(httplimit.New(w.limiter, as(bea), fails)(done)))
	require.Equal(t, 500, get(h, "/").Status)
	require.Equal(t, 10, w.left(ana))
}

// An observer is told once about a request that nobody has to pay for.
func TestUnlimitedIsToldOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		n := 0
		w := newWorld(t, core.WithObserver(func(_ context.Context, e core.Event) {
			if !e.Late {
				n++
			}
		}))
		h := thrice(s, limit(w.limiter), limit(w.limiter), limit(w.limiter))
		get(h, "/v1/x", key("key_rich"))
		require.Equal(t, 1, n)
	})
}
