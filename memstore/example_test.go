package memstore_test

import (
	"context"
	"fmt"
	"time"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/memstore"
)

func Example() {
	clock := fakeclock.New(time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC)) // leave WithClock out in a server
	store := memstore.New(memstore.WithClock(clock), memstore.WithMaxKeys(100_000))
	limiter, err := core.New(store, core.Plans{
		Tiers:   map[string]core.Quota{"free": core.PerMinute(2)},
		Default: "free",
	}, core.WithClock(clock))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, ana := context.Background(), core.Identity{Key: "ana"}
	for range 3 {
		d := limiter.Take(ctx, ana, 1)
		fmt.Println(d.Status(), d.Level.Remaining, "left, retry after", d.Level.RetryAfter)
	}
	fmt.Println(store.Len(), "key")

	clock.Advance(time.Minute)
	for range 50 {
		limiter.Peek(ctx, ana, 1) // traffic drops what has run out, a little at a time
	}
	fmt.Println(store.Len(), "keys")
	// Output:
	// 200 1 left, retry after 0s
	// 200 0 left, retry after 0s
	// 429 0 left, retry after 30s
	// 1 key
	// 0 keys
}
