package stacktest_test

import (
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/ginlimit"
	"github.com/tierlimit/tierlimit/httplimit"
)

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
