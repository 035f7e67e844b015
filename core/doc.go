// Package core decides whether a request may pass, by the plan that its caller
// pays for. It knows no framework and no database: a [Store] keeps the buckets,
// and the adapters (ginlimit, echolimit, httplimit) turn requests into calls.
//
//	plans := core.Plans{
//		Tiers: map[string]core.Quota{
//			"free":       core.PerMinute(10),
//			"pro":        core.PerSecond(20).WithBurst(40).And(core.PerDay(50_000)),
//			"enterprise": core.Unlimited(),
//		},
//		Default: "free",
//	}
//	limiter, err := core.New(memstore.New(), plans)
//	...
//	d := limiter.Take(ctx, core.Identity{Key: account, Tier: plan}, 5)
//	if !d.Allowed() {
//		// d.Status(), d.Level.RetryAfter
//	}
//
// What happens when nobody is identified, the plan is unknown or the store
// fails is a [Policy] each, with a safe default.
//
// The algorithms are pure functions over a [State]: [Apply] is the reference
// that every store equals, number for number, in whole microseconds.
//
// It does not know who is asking (that is the application's part), it does not
// wait or queue, and it does not smooth traffic: it says yes or no.
package core
