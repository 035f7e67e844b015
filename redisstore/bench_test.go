package redisstore_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
	"github.com/tierlimit/tierlimit/storetest"
)

func BenchmarkStore(b *testing.B) {
	storetest.Bench(b, anyRedis{redistest.Start(b).Client(b), true}.opener())
}

// BenchmarkServer measures what a check costs the server, by its own account.
func BenchmarkServer(b *testing.B) {
	server := redistest.Start(b)
	s := anyRedis{server.Client(b), true}.store()
	for name, kind := range kinds() {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			a := &asker{server, s, name, kind}
			a.fill(b)
			b.ReportMetric(a.cost(b, max(b.N, askers)), "server-µs/check")
		})
	}
}

// BenchmarkChecks measures checks of 10,000 users by so many goroutines.
func BenchmarkChecks(b *testing.B) {
	s := anyRedis{redistest.Start(b).Client(b), true}.store()
	keys := make([]core.Key, 10_000)
	for i := range keys {
		keys[i] = user(i)
	}
	for _, workers := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("goroutines=%d", workers), func(b *testing.B) {
			b.ReportAllocs()
			ctx := b.Context()
			var next atomic.Int64
			began := time.Now()
			together(workers, func(int) {
				for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
					if _, err := s.Take(ctx, core.Request{Key: keys[i*2131%10_000], Limits: plenty, Cost: 1}); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "checks/s")
		})
	}
}

// BenchmarkOverhead compares a check with the bare script call, by turns, on a
// client that answers at once. Hashing is what the key's name costs.
func BenchmarkOverhead(b *testing.B) {
	p := plains[1]
	client := p.canned(b)
	s := redisstore.New(client)
	limits, key := core.PerMinute(10).Limits(), core.Key{Tier: "free", ID: "key_ana"}
	without, with, hashing := p.bare(b, client), taking(b, s, limits), func() { _ = s.RedisKey(key, limits) }
	const turn = 2000
	span := func(f func()) float64 {
		began := time.Now()
		for range turn {
			f()
		}
		return float64(time.Since(began).Nanoseconds()) / turn
	}
	var over, hash, alone []float64
	for b.Loop() {
		a := span(without)
		over = append(over, span(with)-a)
		alone, hash = append(alone, a), append(hash, span(hashing))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(alone), "bare-ns/check")
	b.ReportMetric(median(over), "over-ns/check")
	b.ReportMetric(median(hash), "hashing-ns/check")
}
