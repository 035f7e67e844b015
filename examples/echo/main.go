// Command echo is an API that limits its callers by plan: free 10 requests a
// minute, pro 100; a report costs 5 and a backup 50.
//
//	go run ./examples/echo
//	curl -i -H 'X-Api-Key: key_ana' localhost:3000/data
//
// With -redis 127.0.0.1:6379 all instances share one limit.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/redis/rueidis"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/echolimit"
	"github.com/tierlimit/tierlimit/memstore"
	"github.com/tierlimit/tierlimit/redisstore"
)

// plans is what is sold.
var plans = core.Plans{
	Tiers: map[string]core.Quota{
		"free": core.PerMinute(10),
		"pro":  core.PerMinute(100),
	},
	Default: "free",
}

// accounts tells which plan an API key pays for. Eva's is sold no more, so she
// gets the default plan.
var accounts = map[string]string{
	"key_ana": "free",
	"key_bea": "pro",
	"key_eva": "gold",
}

// prices of what costs more than 1.
var prices = map[string]int{
	"/report": 5,
	"/backup": 50,
}

func main() {
	addr := flag.String("addr", "127.0.0.1:3000", "address to listen on")
	redis := flag.String("redis", "", "address of the Redis to share limits through; empty: limits of this process alone")
	flag.Parse()

	store, err := openStore(*redis)
	if err != nil {
		log.Fatal(err)
	}
	api, err := newAPI(store, os.Stderr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("listening on http://%s", *addr)
	log.Fatal(http.ListenAndServe(*addr, api))
}

// openStore keeps buckets in Redis, which may still be down, or in this process.
func openStore(redis string) (core.Store, error) {
	if redis == "" {
		return memstore.New(), nil
	}
	return redisstore.Open(rueidis.ClientOption{InitAddress: []string{redis}})
}

// newAPI is the service over a store; unknown plans are told to warnings.
func newAPI(store core.Store, warnings io.Writer) (http.Handler, error) {
	limiter, err := core.New(store, plans,
		core.OnMissing(core.Deny(http.StatusUnauthorized)),
		core.WithObserver(func(_ context.Context, e core.Event) {
			if e.UnknownTier && !e.Late {
				fmt.Fprintf(warnings, "unknown tier %q for %s\n", e.Identity.Tier, e.Identity.Key)
			}
		}))
	if err != nil {
		return nil, err
	}

	r := echo.New()
	r.Use(middleware.Recover(), echolimit.New(limiter, identify, echolimit.WithCost(price)))
	for _, name := range []string{"data", "report", "backup"} {
		r.GET("/"+name, func(c echo.Context) error { return c.String(http.StatusOK, name+"\n") })
	}
	return r, nil
}

// identify says who is asking. An unknown key is nobody, and is answered 401.
func identify(c echo.Context) (core.Identity, error) {
	key := c.Request().Header.Get("X-Api-Key")
	tier, ok := accounts[key]
	if !ok {
		return core.Identity{}, nil
	}
	return core.Identity{Key: key, Tier: tier}, nil
}

func price(c echo.Context) int {
	if n, ok := prices[c.Path()]; ok {
		return n
	}
	return 1
}
