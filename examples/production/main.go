// Command production is an API as one would run it: plans shared by all
// instances through Redis, repeated refusals answered from memory, local limits
// while Redis is away, and a login that closes when nobody can count attempts.
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

var plans = core.Plans{
	Tiers: map[string]core.Quota{
		"login":      core.PerMinute(5),
		"free":       core.PerMinute(10),
		"pro":        core.PerSecond(20).WithBurst(40).And(core.PerDay(50_000)),
		"enterprise": core.Unlimited(),
	},
	Default: "free",
}

// accounts tells which plan an API key pays for.
var accounts = map[string]string{"key_ana": "free", "key_bea": "pro", "key_eva": "enterprise"}

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

// newAPI is the service over a shared store, one of so many instances.
func newAPI(shared core.Store, instances int) (http.Handler, error) {
	store := fallbackstore.New(denystore.New(shared), memstore.New(),
		fallbackstore.WithShare(1/float64(max(instances, 1))),
		fallbackstore.WithStateChange(func(s fallbackstore.State) { slog.Warn("rate limits", "state", s.String()) }))
	limiter, err := core.New(store, plans,
		core.OnMissing(core.Deny(http.StatusUnauthorized)),
		core.WithObserver(core.LogTo(nil)))
	if err != nil {
		return nil, err
	}
	// Where others would be let through, should both stores fail, the login is not.
	strict, err := limiter.With(core.OnStorageError(core.Deny(http.StatusServiceUnavailable)))
	if err != nil {
		return nil, err
	}

	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery())
	r.POST("/login", ginlimit.New(strict, ginlimit.ByClientIP("login")), text("welcome\n"))
	api := r.Group("/", ginlimit.New(limiter, identify))
	api.GET("/data", text("data\n"))
	api.POST("/report", ginlimit.Cost(5), text("report\n"))
	return r, nil
}

func identify(c *gin.Context) (core.Identity, error) {
	key := c.GetHeader("X-Api-Key")
	if _, ok := accounts[key]; !ok {
		return core.Identity{}, nil
	}
	return core.Identity{Key: key, Tier: accounts[key]}, nil
}

func text(s string) gin.HandlerFunc {
	return func(c *gin.Context) { c.String(http.StatusOK, s) }
}
