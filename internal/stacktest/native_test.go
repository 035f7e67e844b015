package stacktest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/echolimit"
	"github.com/tierlimit/tierlimit/ginlimit"
	"github.com/tierlimit/tierlimit/httplimit"
)

func ginAs(id core.Identity) ginlimit.IdentifyFunc {
	return func(*gin.Context) (core.Identity, error) { return id, nil }
}

func echoAs(id core.Identity) echolimit.IdentifyFunc {
	return func(echo.Context) (core.Identity, error) { return id, nil }
}

// A rewrite by HandleContext runs the whole chain again and wipes Gin's keys.
func TestHandleContextChargesOnce(t *testing.T) {
	t.Parallel()
	rewrite := func(e *gin.Engine, to string) gin.HandlerFunc {
		return func(c *gin.Context) {
			c.Request.URL.Path = to
			e.HandleContext(c)
			c.Abort()
		}
	}
	for name, step := range map[string]struct {
		from func(e *gin.Engine)
		to   []gin.HandlerFunc
		left int
	}{
		"plain":       {func(e *gin.Engine) { e.GET("/old", rewrite(e, "/new")) }, nil, 9},
		"Cost before": {func(e *gin.Engine) { e.GET("/old", ginlimit.Cost(4), rewrite(e, "/new")) }, nil, 6},
		"SetCost before": {func(e *gin.Engine) {
			e.GET("/old", func(c *gin.Context) { ginlimit.SetCost(c, 4) }, rewrite(e, "/new"))
		}, nil, 6},
		"Cost afterwards":    {func(e *gin.Engine) { e.GET("/old", rewrite(e, "/new")) }, []gin.HandlerFunc{ginlimit.Cost(4)}, 6},
		"both, the last one": {func(e *gin.Engine) { e.GET("/old", ginlimit.Cost(6), rewrite(e, "/new")) }, []gin.HandlerFunc{ginlimit.Cost(4)}, 6},
		"SetCost afterwards": {func(e *gin.Engine) { e.GET("/old", rewrite(e, "/new")) }, []gin.HandlerFunc{func(c *gin.Context) { ginlimit.SetCost(c, 0) }}, 10},
		"three in a row": {func(e *gin.Engine) {
			e.GET("/old", ginlimit.Cost(3), rewrite(e, "/mid"))
			e.GET("/mid", rewrite(e, "/new"))
		}, nil, 7},
	} {
		w := newWorld(t)
		e := gin.New()
		e.Use(ginlimit.New(w.limiter, ginAs(ana)))
		step.from(e)
		served := 0
		e.GET("/new", append(step.to, func(c *gin.Context) { served++; c.String(200, "new") })...)
		a := get(e, "/old")
		require.Equal(t, 200, a.Status, name)
		require.Equal(t, "new", a.Body, name)
		require.Equal(t, 1, served, name)
		require.Equal(t, step.left, w.left(ana), name)
	}
}

// The price of the route that it ends at, where WithCost goes by the route.
func TestHandleContextAsksWithCostAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := gin.New()
	e.Use(ginlimit.New(w.limiter, ginAs(ana), ginlimit.WithCost(func(c *gin.Context) int {
		return map[string]int{"/old": 1, "/new": 6}[c.FullPath()]
	})))
	e.GET("/old", func(c *gin.Context) { c.Request.URL.Path = "/new"; e.HandleContext(c) })
	e.GET("/new", func(c *gin.Context) { c.String(200, "new") })
	require.Equal(t, 4, get(e, "/old").remaining())
	a := get(e, "/old")
	require.Equal(t, 429, a.Status)
	require.Equal(t, 4, w.left(ana))
	require.Equal(t, body429("free", 12), a.Body)
}

// A rewrite out of a refusal neither serves for free nor pays twice.
func TestHandleContextOutOfARefusal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := gin.New()
	served := 0
	e.Use(ginlimit.New(w.limiter, ginAs(ana), ginlimit.WithRefused(func(c *gin.Context, d core.Decision) {
		if c.Request.URL.Path == "/light" {
			httplimit.Refuse(c.Writer, c.Request, d)
			return
		}
		c.Request.URL.Path = "/light"
		e.HandleContext(c)
		c.Abort()
	}), ginlimit.WithCost(func(c *gin.Context) int { return map[string]int{"/heavy": 8, "/light": 1}[c.FullPath()] })))
	e.GET("/heavy", func(c *gin.Context) { served += 8; c.String(200, "heavy") })
	e.GET("/light", func(c *gin.Context) { served++; c.String(200, "light") })
	for range 5 {
		get(e, "/heavy")
	}
	require.Equal(t, 10, served)
	require.Zero(t, w.left(ana))
}

func TestGinCopyInAGoroutine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := gin.New()
	e.Use(ginlimit.New(w.limiter, ginAs(ana)))
	e.GET("/x", func(c *gin.Context) {
		var wg sync.WaitGroup
		for range 4 {
			cp := c.Copy()
			wg.Go(func() {
				d, known := ginlimit.Decision(cp)
				if !known || d.Cost != 1 {
					t.Error("the copy knows no decision")
				}
				ginlimit.SetCost(cp, 6)
			})
		}
		ginlimit.Decision(c)
		wg.Wait()
		c.String(200, "x")
	})
	require.Equal(t, 200, get(e, "/x").Status)
	require.Equal(t, 4, w.left(ana))
}

func TestGinNoRouteAndNoMethod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := gin.New()
	e.HandleMethodNotAllowed = true
	e.Use(ginlimit.New(w.limiter, ginAs(ana)))
	e.NoRoute(ginlimit.New(w.limiter, ginAs(ana)), ginlimit.Cost(3), func(c *gin.Context) { c.String(404, "nothing here") })
	e.NoMethod(ginlimit.Cost(2), func(c *gin.Context) { c.String(405, "not so") })
	e.POST("/x", func(c *gin.Context) { c.String(200, "x") })
	a := get(e, "/guess")
	require.Equal(t, 404, a.Status)
	require.Equal(t, 7, a.remaining())
	a = get(e, "/x")
	require.Equal(t, 405, a.Status)
	require.Equal(t, 5, a.remaining())
	require.Equal(t, 2, get(e, "/guess").remaining())
	require.Equal(t, 429, get(e, "/guess").Status)
	require.Equal(t, 2, w.left(ana))
}

// Abort before the limiter is not charged, after it is.
func TestGinAbort(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := gin.New()
	abort := func(c *gin.Context) { c.AbortWithStatus(418) }
	e.GET("/before", abort, ginlimit.New(w.limiter, ginAs(ana)), func(*gin.Context) {})
	e.GET("/after", ginlimit.New(w.limiter, ginAs(ana)), abort, func(*gin.Context) {})
	require.Equal(t, 418, get(e, "/before").Status)
	require.Equal(t, 10, w.left(ana))
	require.Equal(t, 418, get(e, "/after").Status)
	require.Equal(t, 9, w.left(ana))
}

// Gin's own recovery inside and outside of the limiter makes no difference.
func TestGinRecoveryAndRefund(t *testing.T) {
	t.Parallel()
	for _, inside := range []bool{true, false} {
		w := newWorld(t)
		e := gin.New()
		recovery := gin.CustomRecoveryWithWriter(nil, func(c *gin.Context, _ any) { c.AbortWithStatus(500) })
		l := ginlimit.New(w.limiter, ginAs(ana), ginlimit.WithRefund(failed))
		chain := []gin.HandlerFunc{recovery, l}
		if inside {
			chain = []gin.HandlerFunc{l, recovery}
		}
		e.Use(chain...)
		e.GET("/x", func(*gin.Context) { panic("boom") })
		require.Equal(t, 500, get(e, "/x").Status)
		require.Equal(t, 10, w.left(ana))
	}
}

// Pre, Use, a group and a route install the same limiter.
func TestEchoPreUseGroupAndRoute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := echolimit.New(w.limiter, echoAs(ana))
	e := echo.New()
	e.Pre(l)
	e.Use(l)
	e.Group("/v1", l).GET("/x", func(c echo.Context) error { return c.String(200, "x") }, l, echolimit.Cost(4))
	a := get(e, "/v1/x")
	require.Equal(t, 200, a.Status)
	require.Equal(t, 6, a.remaining())
	require.Equal(t, 6, w.left(ana))
	require.Equal(t, 404, get(e, "/v1/y").Status)
	require.Equal(t, 404, get(e, "/y").Status)
	require.Equal(t, 4, w.left(ana))
}

// Cost before routing prices what is routed later.
func TestEchoCostInPre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := echo.New()
	e.Pre(echolimit.Cost(4))
	e.GET("/x", func(c echo.Context) error { return c.String(200, "x") }, echolimit.New(w.limiter, echoAs(ana)))
	require.Equal(t, 6, get(e, "/x").remaining())
}

// An error is passed on unchanged, with the headers of the decision.
func TestEchoErrorsArePassedOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := echo.New()
	var got error
	e.HTTPErrorHandler = func(err error, c echo.Context) {
		got = err
		_ = c.String(418, "tea")
	}
	own := errors.New("own")
	e.Use(echolimit.New(w.limiter, echoAs(ana), echolimit.WithRefund(failed)))
	e.GET("/own", func(echo.Context) error { return own })
	e.GET("/404", func(echo.Context) error { return echo.ErrNotFound })
	e.GET("/wrapped", func(echo.Context) error { return fmt.Errorf("wrapped: %w", echo.ErrNotFound) })
	e.GET("/internal", func(echo.Context) error { return echo.NewHTTPError(400).SetInternal(echo.ErrServiceUnavailable) })

	a := get(e, "/own")
	require.Equal(t, 418, a.Status)
	require.Equal(t, 9, a.remaining())
	require.Same(t, own, got)
	require.Equal(t, 10, w.left(ana))
	get(e, "/404")
	require.Same(t, echo.ErrNotFound, got)
	require.Equal(t, 9, w.left(ana))
	get(e, "/wrapped") // 500: Echo does not look at what an error wraps
	require.Equal(t, 9, w.left(ana))
	get(e, "/internal") // 503: but at the Internal one
	require.Equal(t, 9, w.left(ana))
}

// WithRefused may answer by Echo's error handler.
func TestEchoRefusalAsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := echo.New()
	e.Use(echolimit.New(w.limiter, echoAs(ana), echolimit.WithRefused(func(_ echo.Context, d core.Decision) error {
		return echo.NewHTTPError(d.Status(), "slow down")
	})))
	e.GET("/x", func(c echo.Context) error { return c.String(200, "x") }, echolimit.Cost(6))
	require.Equal(t, 4, get(e, "/x").remaining())
	a := get(e, "/x")
	require.Equal(t, 429, a.Status)
	require.JSONEq(t, `{"message":"slow down"}`, a.Body)
	require.Equal(t, append([]string{"Retry-After: 12"}, rate("10", "4", "1790000036")...), a.rate())
}

// An engine inside net/http middleware, limiters on both levels: one record.
func TestARecordIsSharedAcrossAdapters(t *testing.T) {
	t.Parallel()
	inner := map[string]func(w *world, n int) http.Handler{
		"gin": func(w *world, n int) http.Handler {
			e := gin.New()
			e.Use(ginlimit.New(w.limiter, ginAs(ana)))
			e.GET("/x", ginlimit.Cost(4), func(c *gin.Context) {
				if n >= 0 {
					ginlimit.SetCost(c, n)
				}
				c.String(200, "x")
			})
			return e
		},
		"echo": func(w *world, n int) http.Handler {
			e := echo.New()
			e.Use(echolimit.New(w.limiter, echoAs(ana)))
			e.GET("/x", func(c echo.Context) error {
				if n >= 0 {
					echolimit.SetCost(c, n)
				}
				return c.String(200, "x")
			}, echolimit.Cost(4))
			return e
		},
	}
	for name, build := range inner {
		for _, outer := range []core.Identity{ana, bea} {
			for _, n := range []int{-1, 7, 0} {
				w := newWorld(t)
				h := httplimit.New(w.limiter, as(outer))(build(w, n))
				a := get(h, "/x")
				require.Equal(t, 200, a.Status, name)
				require.Equal(t, 6, a.remaining(), name)
				want := 4
				if n >= 0 {
					want = n
				}
				require.Equal(t, 10-want, w.left(ana), "%s %d", name, n)
				if outer == bea {
					require.Equal(t, 100-want, w.left(bea), "%s %d", name, n)
				}
			}
		}
	}
}

// The outer limiter's price before the inner adapter's check.
func TestAPriceReachesInnerAdapters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := gin.New()
	e.Use(ginlimit.New(w.limiter, ginAs(ana)))
	e.GET("/x", func(c *gin.Context) { c.String(200, "x") })
	require.Equal(t, 4, get(httplimit.Cost(6)(e), "/x").remaining())
	set := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httplimit.SetCost(r, 3)
		e.ServeHTTP(w, r)
	})
	require.Equal(t, 1, get(set, "/x").remaining())
}

// net/http middleware inside the frameworks.
func TestNetHTTPMiddlewareInsideEcho(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := echo.New()
	e.Use(echo.WrapMiddleware(httplimit.New(w.limiter, as(ana))), echolimit.New(w.limiter, echoAs(ana)))
	e.GET("/x", func(c echo.Context) error {
		d, known := echolimit.Decision(c)
		require.True(t, known)
		require.Equal(t, 3, d.Cost)
		return c.String(200, "x")
	}, echolimit.Cost(3))
	require.Equal(t, 7, get(e, "/x").remaining())
}

// A context that was derived from the request's is the same request.
func TestDerivedContextsKeepTheRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	type mark struct{}
	derive := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithCancel(context.WithValue(r.Context(), mark{}, 1))
			defer cancel()
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
	final := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Context().Value(mark{}) != 1 {
			t.Error("the application's value is gone")
		}
	})
	l := httplimit.New(w.limiter, as(ana))
	rec := httptest.NewRecorder()
	derive(l(derive(l(derive(httplimit.Cost(3)(final)))))).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	require.Equal(t, 200, rec.Code)
	require.Equal(t, 7, w.left(ana))
}
