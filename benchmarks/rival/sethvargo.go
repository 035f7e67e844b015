package rival

import (
	"context"

	"github.com/sethvargo/go-limiter/memorystore"
)

// sethvargo is go-limiter's memory store: a bucket that is filled anew each
// Interval after the key's first request. Of what its formula refills only
// Interval in ns / Tokens come back, so a long Interval, in which no refill
// happens, stands for a huge burst.
func sethvargo() Contender {
	return Contender{Name: "sethvargo/go-limiter", Drops: true, Open: func(l Limit) (Check, func()) {
		count, window := l.fixed()
		s := must(memorystore.New(&memorystore.Config{
			Tokens: uint64(count), Interval: window,
			SweepInterval: l.keep(), SweepMinTTL: l.keep(),
		}))
		ctx := context.Background()
		return func(key string) (bool, error) {
			_, _, _, ok, err := s.Take(ctx, key)
			return ok, err
		}, func() { _ = s.Close(ctx) }
	}}
}
