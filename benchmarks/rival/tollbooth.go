package rival

import (
	"time"

	"github.com/didip/tollbooth/v7/limiter"
)

// tollbooth is a copy of x/time/rate's bucket for each key in a cache with a
// time to live. Its cache frees one key at each insert; the other expired ones
// go by a call that is left to the user, here every half of Keep.
func tollbooth() Contender {
	return Contender{Name: "tollbooth", Drops: true, Open: func(l Limit) (Check, func()) {
		lim := limiter.New(&limiter.ExpirableOptions{DefaultExpirationTTL: l.keep()})
		lim.SetMax(l.perSecond()).SetBurst(l.burst())
		stop := every(l.keep()/2, lim.DeleteExpiredTokenBuckets)
		return func(key string) (bool, error) { return !lim.LimitReached(key), nil }, stop
	}}
}

// every calls f in a goroutine until it is stopped.
func every(d time.Duration, f func()) (stop func()) {
	ticker, done := time.NewTicker(d), make(chan struct{})
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				f()
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}
