package main

import (
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/echolimit"
)

func newEcho(limiter *core.Limiter) http.Handler {
	e := echo.New()
	e.Use(middleware.Recover(), echolimit.New(limiter, echolimit.ByClientIP("address")))

	e.POST("/login", func(c echo.Context) error {
		if c.FormValue("password") != password {
			return c.String(http.StatusUnauthorized, "wrong password\n")
		}
		return c.String(http.StatusOK, "welcome\n")
	}, echolimit.New(limiter, echolimit.ByClientIP("login"), echolimit.WithRefund(succeeded)))

	// On the routes, not on the group: group middleware in Echo turns a wrong
	// method below its prefix into 404.
	e.GET("/data", func(c echo.Context) error { return c.String(http.StatusOK, "data\n") },
		authenticateEcho, echolimit.New(limiter, accountEcho))
	return e
}

// authenticateEcho ends requests without a valid key, before the limiter by
// plan and after the one by address.
func authenticateEcho(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if _, ok := accounts[c.Request().Header.Get("X-Api-Key")]; !ok {
			return c.String(http.StatusUnauthorized, "unknown key\n")
		}
		return next(c)
	}
}

func accountEcho(c echo.Context) (core.Identity, error) {
	key := c.Request().Header.Get("X-Api-Key")
	return core.Identity{Key: key, Tier: accounts[key]}, nil
}
