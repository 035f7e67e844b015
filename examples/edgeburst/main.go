// Command edgeburst shows why GCRA is the default: ten requests just before a
// minute turns and ten just after it, under 10 a minute.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/memstore"
)

func main() {
	fmt.Printf("fixed window: %d of 20 allowed in 2 seconds\n", allowed(core.PerMinute(10).Using(core.FixedWindow)))
	fmt.Printf("GCRA:         %d of 20 allowed in 2 seconds\n", allowed(core.PerMinute(10)))
}

// allowed sends ten requests in second 59 of a minute and ten in the next.
func allowed(quota core.Quota) int {
	clock := fakeclock.New(time.Date(2026, 10, 2, 13, 18, 59, 0, time.UTC))
	limiter, err := core.New(
		memstore.New(memstore.WithClock(clock)),
		core.Plans{Tiers: map[string]core.Quota{"free": quota}, Default: "free"},
		core.WithClock(clock))
	if err != nil {
		log.Fatal(err)
	}
	passed := 0
	for range 2 {
		for range 10 {
			if limiter.Take(context.Background(), core.Identity{Key: "ana"}, 1).Allowed() {
				passed++
			}
		}
		clock.Advance(time.Second)
	}
	return passed
}
