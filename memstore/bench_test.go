package memstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/memstore"
)

// endless is one a minute with a burst that no benchmark uses up, so that no
// key is full again at once.
var endless = core.Per(1, time.Minute).WithBurst(1 << 26)

// goroutines runs f in one goroutine and in two, each with its share of the
// operations.
func goroutines(b *testing.B, f func(ctx context.Context, worker, n int)) {
	b.Helper()
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("goroutines=%d", workers), func(b *testing.B) {
			b.ReportAllocs()
			ctx := b.Context()
			share(workers, b.N, func(worker, n int) { f(ctx, worker, n) })
		})
	}
}

// share splits n operations among workers.
func share(workers, n int, f func(worker, n int)) {
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() { f(worker, n/workers) })
	}
	wg.Wait()
}

// copies are a million keys, each written anew as a server reads it from a request.
func copies() []core.Key {
	keys := make([]core.Key, 1_000_000)
	for i := range keys {
		keys[i] = core.Key{Tier: "pro", ID: strings.Clone(user(i).ID)}
	}
	rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys
}

func BenchmarkHot(b *testing.B) {
	for name, quota := range map[string]core.Quota{"allowed": endless, "refused": core.PerDay(1)} {
		b.Run(name, func(b *testing.B) {
			s, limits := memstore.New(), quota.Limits()
			charge(s, user(1), limits, 1)
			goroutines(b, func(ctx context.Context, _, n int) {
				key := user(1)
				for range n {
					_, _ = s.Take(ctx, core.Request{Key: key, Limits: limits, Cost: 1})
				}
			})
		})
	}
}

func BenchmarkHotOfOtherWindows(b *testing.B) {
	const many = 1 << 26
	for name, quota := range map[string]core.Quota{
		"fixed": core.PerDay(many).Using(core.FixedWindow),
		"two":   core.Per(1, time.Minute).WithBurst(many).And(core.PerDay(many).Using(core.FixedWindow)),
	} {
		b.Run(name, func(b *testing.B) {
			s, limits := memstore.New(), quota.Limits()
			goroutines(b, func(ctx context.Context, _, n int) {
				key := user(1)
				for range n {
					_, _ = s.Take(ctx, core.Request{Key: key, Limits: limits, Cost: 1})
				}
			})
		})
	}
}

func BenchmarkMillionKeys(b *testing.B) {
	s, limits := memstore.New(), endless.Limits()
	for _, key := range copies() {
		charge(s, key, limits, 1)
	}
	keys := copies()
	goroutines(b, func(ctx context.Context, worker, n int) {
		at := worker * len(keys) / 2
		for range n {
			_, _ = s.Take(ctx, core.Request{Key: keys[at%len(keys)], Limits: limits, Cost: 1})
			at++
		}
	})
}

func BenchmarkInsert(b *testing.B) {
	keys, limits := copies(), endless.Limits()
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("goroutines=%d", workers), func(b *testing.B) {
			b.ReportAllocs()
			ctx := b.Context()
			for done := 0; done < b.N; done += len(keys) {
				s := memstore.New()
				share(workers, min(b.N-done, len(keys)), func(worker, n int) {
					for _, key := range keys[worker*n : (worker+1)*n] {
						_, _ = s.Take(ctx, core.Request{Key: key, Limits: limits, Cost: 1})
					}
				})
			}
		})
	}
}

// BenchmarkEvict inserts into a store that is full.
func BenchmarkEvict(b *testing.B) {
	keys, limits := copies(), endless.Limits()
	s := memstore.New(memstore.WithMaxKeys(100_000))
	for _, key := range keys[:100_000] {
		charge(s, key, limits, 1)
	}
	goroutines(b, func(ctx context.Context, worker, n int) {
		at := worker * len(keys) / 2
		for range n {
			_, _ = s.Take(ctx, core.Request{Key: keys[at%len(keys)], Limits: limits, Cost: 1})
			at++
		}
	})
}

func BenchmarkHeap(b *testing.B) {
	for name, limits := range map[string][]core.Limit{
		"cells":   endless.Limits(),
		"buckets": core.PerSecond(20).And(core.PerDay(50_000)).Limits(),
	} {
		b.Run(name, func(b *testing.B) {
			const count = 1_000_000
			for b.Loop() {
				before := heap()
				s := memstore.New()
				for i := range count {
					charge(s, user(i), limits, 1)
				}
				b.ReportMetric(float64(heap()-before)/count, "B/key")
				runtime.KeepAlive(s)
			}
		})
	}
}

// BenchmarkLimiter asks the store and a limiter over it by turns, so that both
// meet the same noise.
func BenchmarkLimiter(b *testing.B) {
	s, limits := memstore.New(), endless.Limits()
	limiter, err := core.New(s, core.Plans{Tiers: map[string]core.Quota{"pro": endless}, Default: "pro"})
	if err != nil {
		b.Fatal(err)
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("goroutines=%d", workers), func(b *testing.B) {
			b.ReportAllocs()
			ctx := b.Context()
			key, id := user(1), core.Identity{Key: user(2).ID, Tier: "pro"}
			var store, limited time.Duration
			const turn = 20_000
			for done := 0; done < b.N; done += turn {
				n := min(turn, b.N-done)
				began := time.Now()
				share(workers, n, func(_, n int) {
					for range n {
						_, _ = s.Take(ctx, core.Request{Key: key, Limits: limits, Cost: 1})
					}
				})
				middle := time.Now()
				share(workers, n, func(_, n int) {
					for range n {
						limiter.Take(ctx, id, 1)
					}
				})
				store += middle.Sub(began)
				limited += time.Since(middle)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(store.Nanoseconds())/float64(b.N), "store-ns/op")
			b.ReportMetric(float64(limited.Nanoseconds())/float64(b.N), "limiter-ns/op")
			b.ReportMetric(float64(limited)/float64(store), "limiter/store")
		})
	}
}
