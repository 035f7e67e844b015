// Package fakeclock has a clock that stands still until a test moves it, so
// that a day of traffic takes no time and no test sleeps:
//
//	clock := fakeclock.New(time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC))
//	store := memstore.New(memstore.WithClock(clock))
//	limiter, err := core.New(store, plans, core.WithClock(clock))
//	...
//	clock.Advance(6 * time.Second)
//
// It has no timers: nothing in tierlimit waits.
package fakeclock
