package rival

import (
	"context"

	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"
)

// throttledGCRA is throttled's GCRA over its memory store without a bound of
// keys, which is its faster form; with one, each check takes the lock of an
// LRU list. It frees nothing then.
func throttledGCRA() Contender {
	return Contender{Name: "throttled", Clock: true, Open: func(l Limit) (Check, func()) {
		s := must(memstore.New(0))
		s.SetTimeNow(l.now())
		limiter := must(throttled.NewGCRARateLimiterCtx(throttled.WrapStoreWithContext(s), throttled.RateQuota{
			MaxRate: throttled.PerDuration(l.Count, l.Window), MaxBurst: l.burst() - 1,
		}))
		ctx := context.Background()
		return func(key string) (bool, error) {
			limited, _, err := limiter.RateLimitCtx(ctx, key, 1)
			return !limited && err == nil, err
		}, nothing
	}}
}
