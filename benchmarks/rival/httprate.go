package rival

import (
	"context"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/httprate"
)

// httprateCounter is what httprate's RateLimiter does to its local counter,
// call for call and under a lock as there, but without the headers that it
// writes meanwhile.
func httprateCounter() Contender {
	return Contender{Name: "httprate's counter", Hashed: true, Drops: true, Open: func(l Limit) (Check, func()) {
		count, window := l.fixed()
		var counter httprate.LimitCounter = httprate.NewLocalLimitCounter(window)
		limiter := httprate.NewRateLimiter(count, window, httprate.WithLimitCounter(counter))
		var mu sync.Mutex
		return func(key string) (bool, error) {
			current := time.Now().UTC().Truncate(window)
			mu.Lock()
			defer mu.Unlock()
			_, rate, err := limiter.Status(key)
			if err != nil || int(math.Round(rate))+1 > count {
				return false, err
			}
			return true, counter.IncrementBy(key, current, 1)
		}, nothing
	}}
}

// HTTPRate is httprate's RateLimiter as it is used, with its headers and its
// two readings of the clock, one before and one behind its lock.
func HTTPRate() Contender {
	return Contender{Name: "httprate", Hashed: true, Drops: true, Open: func(l Limit) (Check, func()) {
		count, window := l.fixed()
		limiter := httprate.NewRateLimiter(count, window)
		r := must(http.NewRequestWithContext(context.Background(), http.MethodGet, "/", http.NoBody))
		return func(key string) (bool, error) {
			return !limiter.OnLimit(headers{}, r, key), nil
		}, nothing
	}}
}

// headers is a response that nobody reads.
type headers http.Header

func (h headers) Header() http.Header       { return http.Header(h) }
func (headers) Write(p []byte) (int, error) { return len(p), nil }
func (headers) WriteHeader(int)             {}
