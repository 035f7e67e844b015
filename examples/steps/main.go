// Command steps shows what a caller on 10 a minute meets: ten at once, then
// one every 6 seconds, and what was not used is saved up.
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
	start := time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC)
	clock := fakeclock.New(start)
	limiter, err := core.New(
		memstore.New(memstore.WithClock(clock)),
		core.Plans{Tiers: map[string]core.Quota{"free": core.PerMinute(10)}, Default: "free"},
		core.WithClock(clock))
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range []struct {
		wait     time.Duration
		requests int
	}{{0, 11}, {6 * time.Second, 2}, {30 * time.Second, 6}} {
		clock.Advance(step.wait)
		for range step.requests {
			d := limiter.Take(context.Background(), core.Identity{Key: "ana"}, 1)
			fmt.Printf("t=%2.0fs  %d  %s\n", clock.Now().Sub(start).Seconds(), d.Status(), standing(d))
		}
	}
}

// standing is what the caller has left, or how long to wait.
func standing(d core.Decision) string {
	if d.Allowed() {
		return fmt.Sprintf("remaining %d", d.Level.Remaining)
	}
	return fmt.Sprintf("retry after %.0f s", d.Level.RetryAfter.Seconds())
}
