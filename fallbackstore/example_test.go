package fallbackstore_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fallbackstore"
	"github.com/tierlimit/tierlimit/memstore"
)

// outage is a shared store that is away.
type outage struct{ core.Store }

func (outage) Take(context.Context, core.Request) (core.Result, error) {
	return core.Result{}, errors.New("connection refused")
}

// Two instances share 10 a minute. While the shared store is away, each of them
// grants 5.
func Example() {
	shared := outage{memstore.New()} // redisstore.Open(...) in a service
	store := fallbackstore.New(shared, memstore.New(),
		fallbackstore.WithShare(1.0/2),
		fallbackstore.WithStateChange(func(s fallbackstore.State) { fmt.Println("limits are", s) }))
	limiter, err := core.New(store, core.Plans{Tiers: map[string]core.Quota{"free": core.PerMinute(10)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 6 {
		d := limiter.Take(context.Background(), core.Identity{Key: "key_ana", Tier: "free"}, 1)
		fmt.Println(d.Outcome, d.Level.Remaining, "degraded:", d.Degraded)
	}
	// Output:
	// limits are degraded
	// allowed 4 degraded: true
	// allowed 3 degraded: true
	// allowed 2 degraded: true
	// allowed 1 degraded: true
	// allowed 0 degraded: true
	// over_quota 0 degraded: true
}
