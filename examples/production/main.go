// Command production is an API as one would run it. While Redis is away the API
// goes on by local limits, pages are served without any, and the login is closed.
//
//	go run ./examples/production -redis 127.0.0.1:6379 -instances 2
package main

import (
	"flag"
	"log"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/redis/rueidis"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/denystore"
	"github.com/tierlimit/tierlimit/fallbackstore"
	"github.com/tierlimit/tierlimit/ginlimit"
	"github.com/tierlimit/tierlimit/memstore"
	"github.com/tierlimit/tierlimit/redisstore"
)

var plans = core.Plans{Tiers: map[string]core.Quota{
	"page":       core.PerMinute(100),
	"login":      core.PerMinute(5),
	"free":       core.PerMinute(10),
	"pro":        core.PerSecond(20).WithBurst(40).And(core.PerDay(50_000)),
	"enterprise": core.Unlimited(),
}}

var (
	accounts = map[string]string{"key_ana": "free", "key_bea": "pro", "key_eva": "enterprise"}
	prices   = map[string]int{"/report": 5} // the others cost 1
)

func main() {
	addr := flag.String("addr", "127.0.0.1:3000", "address to listen on")
	redis := flag.String("redis", "127.0.0.1:6379", "address of Redis")
	instances := flag.Int("instances", 1, "how many instances serve")
	flag.Parse()
	shared, err := redisstore.Open(rueidis.ClientOption{InitAddress: []string{*redis}})
	if err != nil {
		log.Fatal(err)
	}
	api, err := newAPI(shared, *instances)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(*addr, api))
}

func newAPI(shared core.Store, instances int) (http.Handler, error) {
	opts := []core.Option{core.OnMissing(core.Deny(http.StatusUnauthorized)), core.WithObserver(core.LogTo(nil))}
	cache := denystore.New(shared)
	pages, err := core.New(cache, plans, opts...)
	if err != nil {
		return nil, err
	}
	// It has no fallback, which would answer instead: nobody may guess passwords at each instance's share.
	login, err := pages.With(core.OnStorageError(core.Deny(http.StatusServiceUnavailable)))
	if err != nil {
		return nil, err
	}
	local := fallbackstore.New(cache, memstore.New(), fallbackstore.WithShare(1/float64(instances)),
		fallbackstore.WithStateChange(func(s fallbackstore.State) { slog.Warn("rate limits", "state", s.String()) }))
	limiter, err := core.New(local, plans, opts...)
	if err != nil {
		return nil, err
	}

	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/", ginlimit.New(pages, ginlimit.ByClientIP("page")), text("hello\n"))
	r.POST("/login", ginlimit.New(login, ginlimit.ByClientIP("login")), text("welcome\n"))
	// Told before the first charge, so that a refusal is one check, or none.
	price := func(c *gin.Context) int { return max(prices[c.FullPath()], 1) }
	api := r.Group("/", ginlimit.New(limiter, identify, ginlimit.WithCost(price)))
	api.GET("/data", text("data\n"))
	api.POST("/report", text("report\n"))
	return r, nil
}

func identify(c *gin.Context) (core.Identity, error) {
	if key := c.GetHeader("X-Api-Key"); accounts[key] != "" {
		return core.Identity{Key: key, Tier: accounts[key]}, nil
	}
	return core.Identity{}, nil // nobody
}

func text(s string) gin.HandlerFunc { return func(c *gin.Context) { c.String(http.StatusOK, s) } }
