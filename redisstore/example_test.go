package redisstore_test

import (
	"context"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/rueidis"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/redisstore"
)

func Example() {
	redis, err := miniredis.Run() // a Redis in this process, where a service has a real one
	if err != nil {
		fmt.Println(err)
		return
	}
	defer redis.Close()

	store, err := redisstore.Open(rueidis.ClientOption{InitAddress: []string{redis.Addr()}, ForceSingleClient: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := store.Ready(ctx); err != nil { // leave it out to serve while Redis is down
		fmt.Println(err)
		return
	}

	limiter, err := core.New(store, core.Plans{
		Tiers:   map[string]core.Quota{"free": core.PerMinute(2)},
		Default: "free",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		d := limiter.Take(ctx, core.Identity{Key: "key_ana"}, 1)
		fmt.Println(d.Status(), d.Level.Remaining, "left")
	}
	fmt.Println(store.RedisKey(core.Key{Tier: "free", ID: "key_ana"}, core.PerMinute(2).Limits()))
	// Output:
	// 200 1 left
	// 200 0 left
	// 429 0 left
	// trt:free:33d2315cbeb866b8b237240a98d605f2e6e41b8a
}
