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
)

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
