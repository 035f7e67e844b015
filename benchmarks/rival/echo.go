package rival

import (
	"github.com/labstack/echo/v4/middleware"
	"golang.org/x/time/rate"
)

// echo is the store of Echo's own rate limiter. It frees what was not seen for
// Keep, all at once, in the check that finds it due.
func echo() Contender {
	return Contender{Name: "echo's own store", Drops: true, Open: func(l Limit) (Check, func()) {
		s := middleware.NewRateLimiterMemoryStoreWithConfig(middleware.RateLimiterMemoryStoreConfig{
			Rate: rate.Limit(l.perSecond()), Burst: l.burst(), ExpiresIn: l.keep(),
		})
		return s.Allow, nothing
	}}
}
