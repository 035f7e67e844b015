package rival

import (
	"context"

	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"
)

// ulule is a fixed window that begins with the key's first request. Its cleaner
// runs every half of Keep.
func ulule() Contender {
	return Contender{Name: "ulule/limiter", Drops: true, Open: func(l Limit) (Check, func()) {
		count, window := l.fixed()
		s := memory.NewStoreWithOptions(limiter.StoreOptions{Prefix: "l", CleanUpInterval: l.keep() / 2})
		lim := limiter.New(s, limiter.Rate{Period: window, Limit: int64(count)})
		ctx := context.Background()
		return func(key string) (bool, error) {
			c, err := lim.Get(ctx, key)
			return !c.Reached && err == nil, err
		}, nothing // the collector stops the cleaner
	}}
}
