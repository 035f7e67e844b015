package denystore_test

import (
	"context"
	"fmt"
	"time"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/denystore"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/memstore"
)

// asked counts what reaches the shared store.
type asked struct {
	core.Store

	calls int
}

func (a *asked) Take(ctx context.Context, r core.Request) (core.Result, error) {
	a.calls++
	return a.Store.Take(ctx, r)
}

// Somebody over quota hammers a hundred times a second. The shared store is
// asked once a second.
func Example() {
	clock := fakeclock.New(time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC))
	shared := &asked{Store: memstore.New(memstore.WithClock(clock))} // redisstore.Open(...) in a service
	limiter, err := core.New(denystore.New(shared, denystore.WithClock(clock)),
		core.Plans{Tiers: map[string]core.Quota{"free": core.PerMinute(10)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ana := core.Identity{Key: "key_ana", Tier: "free"}
	for range 10 {
		limiter.Take(context.Background(), ana, 1)
	}
	shared.calls = 0
	for range 550 {
		d := limiter.Take(context.Background(), ana, 1)
		if d.Level.RetryAfter%time.Second == 0 {
			fmt.Println(d.Outcome, d.Level.RetryAfter)
		}
		clock.Advance(10 * time.Millisecond)
	}
	fmt.Println("the store was asked", shared.calls, "times")
	// Output:
	// over_quota 6s
	// over_quota 5s
	// over_quota 4s
	// over_quota 3s
	// over_quota 2s
	// over_quota 1s
	// the store was asked 6 times
}
