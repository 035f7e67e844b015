package overredis

import (
	"context"
	"testing"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/goredisstore.v9"
	ulule "github.com/ulule/limiter/v3"
	ululeredis "github.com/ulule/limiter/v3/drivers/store/redis"
)

// newClient has go-redis's own bound of connections, 10 for each processor: with
// a connection for each of 256 goroutines the rivals are slower.
func newClient(tb testing.TB, p place) *redis.Client {
	tb.Helper()
	client := redis.NewClient(&redis.Options{Addr: p.server.Addr(), Dialer: p.dial()})
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

func openRedisRate(tb testing.TB, p place, l limit) check {
	tb.Helper()
	return allowing(redis_rate.NewLimiter(newClient(tb, p)), l)
}

// openPiped is redis_rate over go-redis's AutoPipeline, which is experimental:
// what that limiter does when its client shares connections as ours does.
func openPiped(tb testing.TB, p place, l limit) check {
	tb.Helper()
	piped, err := newClient(tb, p).AutoPipeline()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = piped.Close() })
	return allowing(redis_rate.NewLimiter(piped), l)
}

func allowing(limiter *redis_rate.Limiter, l limit) check {
	quota := redis_rate.Limit{Rate: 1, Burst: l.burst, Period: l.period}
	return func(ctx context.Context, id string) (bool, error) {
		r, err := limiter.Allow(ctx, id, quota)
		return err == nil && r.Allowed > 0, err
	}
}

func openThrottled(tb testing.TB, p place, l limit) check {
	tb.Helper()
	store, err := goredisstore.NewCtx(newClient(tb, p), "throttled:")
	if err != nil {
		tb.Fatal(err)
	}
	quota := throttled.RateQuota{MaxRate: throttled.PerDuration(1, l.period), MaxBurst: l.burst - 1}
	limiter, err := throttled.NewGCRARateLimiterCtx(store, quota)
	if err != nil {
		tb.Fatal(err)
	}
	return func(ctx context.Context, id string) (bool, error) {
		limited, _, err := limiter.RateLimitCtx(ctx, id, 1)
		return err == nil && !limited, err
	}
}

func openUlule(tb testing.TB, p place, l limit) check {
	tb.Helper()
	store, err := ululeredis.NewStore(newClient(tb, p))
	if err != nil {
		tb.Fatal(err)
	}
	limiter := ulule.New(store, ulule.Rate{Period: l.window(), Limit: int64(l.burst)})
	return func(ctx context.Context, id string) (bool, error) {
		r, err := limiter.Get(ctx, id)
		return err == nil && !r.Reached, err
	}
}
