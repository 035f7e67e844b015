package main

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/ginlimit"
)

func newGin(limiter *core.Limiter) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery(), ginlimit.New(limiter, ginlimit.ByClientIP("address")))

	r.POST("/login",
		ginlimit.New(limiter, ginlimit.ByClientIP("login"), ginlimit.WithRefund(succeeded)),
		func(c *gin.Context) {
			if c.PostForm("password") != password {
				c.String(http.StatusUnauthorized, "wrong password\n")
				return
			}
			c.String(http.StatusOK, "welcome\n")
		})

	api := r.Group("/", authenticateGin, ginlimit.New(limiter, accountGin))
	api.GET("/data", func(c *gin.Context) { c.String(http.StatusOK, "data\n") })
	return r
}

// authenticateGin ends requests without a valid key, before the limiter by
// plan and after the one by address.
func authenticateGin(c *gin.Context) {
	if _, ok := accounts[c.GetHeader("X-Api-Key")]; !ok {
		c.String(http.StatusUnauthorized, "unknown key\n")
		c.Abort()
	}
}

func accountGin(c *gin.Context) (core.Identity, error) {
	key := c.GetHeader("X-Api-Key")
	return core.Identity{Key: key, Tier: accounts[key]}, nil
}
