package web

import (
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/labstack/echo/v4"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/echolimit"
	"github.com/tierlimit/tierlimit/ginlimit"
	"github.com/tierlimit/tierlimit/httplimit"
	"github.com/tierlimit/tierlimit/memstore"
)

func newLimiter(count int) (*core.Limiter, error) {
	plans := core.Plans{Tiers: map[string]core.Quota{plan: core.Per(count, window)}, Default: plan}
	l, err := core.New(memstore.New(), plans)
	if err != nil {
		return nil, fmt.Errorf("a limiter of ours: %w", err)
	}
	return l, nil
}

func identity(r *http.Request) core.Identity {
	a := caller(r)
	return core.Identity{Key: a.id, Tier: a.plan}
}

func ginlimitServer(count int) (http.Handler, error) {
	l, err := newLimiter(count)
	if err != nil {
		return nil, err
	}
	return newGin(ginlimit.New(l, func(c *gin.Context) (core.Identity, error) { return identity(c.Request), nil })), nil
}

func echolimitServer(count int) (http.Handler, error) {
	l, err := newLimiter(count)
	if err != nil {
		return nil, err
	}
	return newEcho(echolimit.New(l, func(c echo.Context) (core.Identity, error) { return identity(c.Request()), nil })), nil
}

func httplimitServer(count int) (http.Handler, error) {
	l, err := newLimiter(count)
	if err != nil {
		return nil, err
	}
	return httplimit.New(l, func(r *http.Request) (core.Identity, error) { return identity(r), nil })(answer), nil
}
