package stacktest_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/echolimit"
	"github.com/tierlimit/tierlimit/ginlimit"
)

func ginAs(id core.Identity) ginlimit.IdentifyFunc {
	return func(*gin.Context) (core.Identity, error) { return id, nil }
}

func echoAs(id core.Identity) echolimit.IdentifyFunc {
	return func(echo.Context) (core.Identity, error) { return id, nil }
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
