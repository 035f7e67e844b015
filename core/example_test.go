package core_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
)

// exampleLimiter stands on a clock that stands still; a program writes
// core.New(memstore.New(), plans).
func exampleLimiter(plans core.Plans, opts ...core.Option) (*core.Limiter, *fakeclock.Clock) {
	clock := fakeclock.New(time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC))
	limiter, err := core.New(newStore(clock), plans, append(opts, core.WithClock(clock))...)
	if err != nil {
		panic(err)
	}
	return limiter, clock
}

func Example() {
	limiter, clock := exampleLimiter(core.Plans{
		Tiers: map[string]core.Quota{
			"free":       core.PerMinute(10),
			"pro":        core.PerSecond(20).WithBurst(40).And(core.PerDay(50_000)),
			"enterprise": core.Unlimited(),
		},
		Default: "free",
	}, core.OnMissing(core.Deny(http.StatusUnauthorized)))

	ctx := context.Background()
	ana := core.Identity{Key: "key_ana", Tier: "free"}
	d := limiter.Take(ctx, ana, 10)
	fmt.Println(d.Allowed(), d.Level.Remaining)
	d = limiter.Take(ctx, ana, 1)
	fmt.Println(d.Allowed(), d.Status(), d.Level.RetryAfter)
	clock.Advance(d.Level.RetryAfter)
	fmt.Println(limiter.Take(ctx, ana, 1).Allowed())

	fmt.Println(limiter.Take(ctx, core.Identity{}, 1).Status())
	fmt.Println(limiter.Take(ctx, core.Identity{Key: "key_eli", Tier: "enterprise"}, 1_000_000).Outcome)
	// Output:
	// true 0
	// false 429 6s
	// true
	// 401
	// allowed_unlimited
}

func ExampleQuota_String() {
	fmt.Println(core.PerSecond(20).WithBurst(40).And(core.PerDay(50_000)))
	fmt.Println(core.Per(5, 10*time.Second).Using(core.SlidingLog))
	fmt.Println(core.TokenBucket(60, 0.5).Shadow())
	// Output:
	// 20/s burst 40 and 50000/24h
	// 5/10s sliding
	// 1/2s burst 60 shadow
}

func ExampleParseQuota() {
	q, err := core.ParseQuota("10/s and 1000/day")
	fmt.Println(q.Equal(core.PerSecond(10).And(core.PerDay(1000))), err)
	_, err = core.ParseQuota("600000/s")
	fmt.Println(err)
	// Output:
	// true <nil>
	// core: bad quota "600000/s": 600000/s cannot be kept to 1 % in whole microseconds, the nearest are 500000/s and 1000000/s
}

func ExampleDecision_Raise() {
	limiter, _ := exampleLimiter(core.Plans{Tiers: map[string]core.Quota{"free": core.PerHour(25)}, Default: "free"})
	ctx, ana := context.Background(), core.Identity{Key: "key_ana"}

	d := limiter.Take(ctx, ana, 1).Raise(ctx, 20) // a report costs 20 in all
	fmt.Println(d.Allowed(), d.Cost, d.Level.Remaining)
	d = limiter.Take(ctx, ana, 1).Raise(ctx, 20) // the first unit is given back
	fmt.Println(d.Allowed(), d.Cost, d.Level.Remaining, d.Level.RetryAfter)
	// Output:
	// true 20 5
	// false 0 5 36m0s
}

func ExampleDecision_Settle() {
	limiter, _ := exampleLimiter(core.Plans{Tiers: map[string]core.Quota{"free": core.PerDay(1000)}, Default: "free"})
	ctx, ana := context.Background(), core.Identity{Key: "key_ana"}

	d := limiter.Take(ctx, ana, 1)
	d = d.Settle(ctx, 420) // so many tokens it was
	fmt.Println(d.Cost, d.Level.Remaining)
	d = d.Refund(ctx) // the answer never arrived
	fmt.Println(d.Cost, d.Level.Remaining)
	// Output:
	// 420 580
	// 0 1000
}

func ExampleDecision_All() {
	limiter, _ := exampleLimiter(core.Plans{Tiers: map[string]core.Quota{"pro": core.PerSecond(20).And(core.PerDay(50_000))}})
	d := limiter.Take(context.Background(), core.Identity{Key: "key_pia", Tier: "pro"}, 5)
	for limit, level := range d.All() {
		fmt.Println(limit.Count, limit.Window, level.Remaining)
	}
	// Output:
	// 20 1s 15
	// 50000 24h0m0s 49995
}

func ExampleWithObserver() {
	limiter, _ := exampleLimiter(core.Plans{Tiers: map[string]core.Quota{"pro": core.PerMinute(1).Shadow()}},
		core.WithObserver(func(_ context.Context, e core.Event) {
			if e.Decision.Shadowed {
				fmt.Println("would refuse:", e.Decision.Tier, e.Decision.Outcome)
			}
		}))
	pia := core.Identity{Key: "key_pia", Tier: "pro"}
	for range 2 {
		fmt.Println(limiter.Take(context.Background(), pia, 1).Allowed())
	}
	// Output:
	// true
	// would refuse: pro over_quota
	// true
}
