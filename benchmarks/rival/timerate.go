package rival

import (
	"sync"

	"golang.org/x/time/rate"
)

// timeRate is what is written by hand most often: a map of x/time/rate's
// buckets under a mutex. It frees nothing.
func timeRate() Contender {
	return Contender{Name: "map of x/time/rate", Clock: true, Open: func(l Limit) (Check, func()) {
		var mu sync.Mutex
		buckets := make(map[string]*rate.Limiter)
		now := l.now()
		return func(key string) (bool, error) {
			mu.Lock()
			b, ok := buckets[key]
			if !ok {
				b = rate.NewLimiter(rate.Limit(l.perSecond()), l.burst())
				buckets[key] = b
			}
			mu.Unlock()
			return b.AllowN(now(), 1), nil
		}, nothing
	}}
}
