package benchmarks

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

const (
	users = 10_000
	// turn is how many checks one side makes before the other has its turn.
	turn = 5000
)

// check asks for one unit of a user.
type check func(ctx context.Context, user int) error

// ours and theirs judge by the same limit, one a minute or nearly endless.
func ours(b *testing.B, server *redistest.Server, burst int) check {
	b.Helper()
	store, err := redisstore.Open(server.ClientOption(), redisstore.WithTimeout(time.Minute))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(store.Close)
	if err := store.Ready(b.Context()); err != nil {
		b.Fatal(err)
	}
	limits := core.Per(1, time.Minute).WithBurst(burst).Limits()
	ids := names()
	return func(ctx context.Context, user int) error {
		_, err := store.Take(ctx, core.Request{Key: core.Key{Tier: strconv.Itoa(burst), ID: ids[user]}, Limits: limits, Cost: 1})
		return err
	}
}

func theirs(b *testing.B, server *redistest.Server, burst int) check {
	b.Helper()
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), PoolSize: 256})
	b.Cleanup(func() { _ = client.Close() })
	limiter := redis_rate.NewLimiter(client)
	limit := redis_rate.Limit{Rate: 1, Burst: burst, Period: time.Minute}
	ids := names()
	prefix := strconv.Itoa(burst) + ":"
	return func(ctx context.Context, user int) error {
		_, err := limiter.Allow(ctx, prefix+ids[user], limit)
		return err
	}
}

func names() []string {
	ids := make([]string, users)
	for i := range ids {
		ids[i] = fmt.Sprintf("user-%05d", i)
	}
	return ids
}

// figures are those of one turn.
type figures struct{ server, perSecond, allocs float64 }

func play(b *testing.B, server *redistest.Server, ask check, workers int) figures {
	b.Helper()
	var memory runtime.MemStats
	calls, usec := scripts(b, server)
	runtime.ReadMemStats(&memory)
	mallocs := memory.Mallocs
	var next atomic.Int64
	var running sync.WaitGroup
	ctx := b.Context()
	began := time.Now()
	for range workers {
		running.Go(func() {
			for i := next.Add(1); i <= turn; i = next.Add(1) {
				if err := ask(ctx, int(i*2131%users)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	running.Wait()
	took := time.Since(began)
	runtime.ReadMemStats(&memory)
	callsAfter, usecAfter := scripts(b, server)
	return figures{
		server:    float64(usecAfter-usec) / float64(callsAfter-calls),
		perSecond: turn / took.Seconds(),
		allocs:    float64(memory.Mallocs-mallocs) / turn,
	}
}

// scripts is what the server has counted of script calls.
func scripts(b *testing.B, server *redistest.Server) (calls, usec int64) {
	b.Helper()
	for name, stat := range server.CommandStats(b) {
		if strings.HasPrefix(name, "eval") {
			calls, usec = calls+stat.Calls, usec+stat.Usec
		}
	}
	return calls, usec
}

func BenchmarkRedisRate(b *testing.B) {
	server := redistest.Start(b)
	for _, c := range []struct {
		name  string
		burst int
	}{{"allowed", 1 << 26}, {"refused", 1}} {
		us, they := ours(b, server, c.burst), theirs(b, server, c.burst)
		for _, workers := range []int{1, 64, 256} {
			b.Run(fmt.Sprintf("%s/goroutines=%d", c.name, workers), func(b *testing.B) {
				play(b, server, us, workers)
				play(b, server, they, workers)
				var mine, other []figures
				b.ResetTimer()
				for i := range b.N {
					if i%2 == 0 { // whoever is first may have the quieter moment
						mine = append(mine, play(b, server, us, workers))
					}
					other = append(other, play(b, server, they, workers))
					if i%2 == 1 {
						mine = append(mine, play(b, server, us, workers))
					}
				}
				report(b, mine, other)
			})
		}
	}
}

func report(b *testing.B, ours, theirs []figures) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	for name, of := range map[string]func(figures) float64{
		"server-µs": func(f figures) float64 { return f.server },
		"checks/s":  func(f figures) float64 { return f.perSecond },
		"allocs":    func(f figures) float64 { return f.allocs },
	} {
		var a, b2, ratio []float64
		for i := range ours {
			a, b2 = append(a, of(ours[i])), append(b2, of(theirs[i]))
			ratio = append(ratio, of(ours[i])/of(theirs[i]))
		}
		b.ReportMetric(median(a), name)
		b.ReportMetric(median(b2), "rival-"+name)
		b.ReportMetric(median(ratio), "ratio-"+name)
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// TestTheRivalsWork keeps the comparison honest: both allow and refuse.
func TestTheRivalsWork(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	client := redis.NewClient(&redis.Options{Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(server.Port()))})
	t.Cleanup(func() { _ = client.Close() })
	limiter := redis_rate.NewLimiter(client)
	store := redisstore.New(server.Client(t))
	for i := range 12 {
		theirs, err := limiter.Allow(t.Context(), "ana", redis_rate.PerHour(10))
		if err != nil {
			t.Fatal(err)
		}
		ours, err := store.Take(t.Context(), core.Request{Key: core.Key{ID: "ana"}, Limits: core.PerHour(10).Limits(), Cost: 1})
		if err != nil {
			t.Fatal(err)
		}
		if (theirs.Allowed > 0) != (i < 10) || ours.Allowed != (i < 10) {
			t.Fatalf("%d: %v, %v", i, theirs, ours)
		}
	}
}
