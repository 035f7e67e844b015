package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
)

// Bench measures the stores that open gives: a hot key that is allowed, one
// that is refused, a million keys, new keys, two windows and a sliding log,
// each by 1 and by 2 goroutines. It reports allocations, and heap-B/key, the
// heap bytes that a key takes, for a million keys. With 2 goroutines an
// operation is still one Take, so a store that scales needs half the time.
//
// open gives an empty store that judges by c, with room for a million keys; it
// cleans up by tb.Cleanup. A slow store gets as many keys as it takes in three
// seconds, reported as "keys".
func Bench(b *testing.B, open func(tb testing.TB, c *fakeclock.Clock) core.Store) {
	b.Helper()
	o := opener(open)
	b.Run("HotKeyAllowed", o.benchAllowed(burst(1, 2*sec, math.MaxInt32)))
	b.Run("HotKeyRefused", o.benchRefused)
	b.Run("MillionKeys", o.benchMillionKeys)
	b.Run("NewKeys", o.benchNewKeys)
	b.Run("TwoWindows", o.benchAllowed(burst(1, 2*sec, math.MaxInt32), burst(1, time.Second, math.MaxInt32)))
	b.Run("SlidingLog", o.benchSlidingLog)
}

// workers are how many ask at once where there are several.
const workers = 2

// bench is one benchmark of the stores that an opener gives.
type bench struct {
	opener
	*testing.B
}

// asking is a request of one worker, its i-th.
type asking func(worker, i int) error

// side makes a benchmark of every number of goroutines. setUp runs before the
// timer; what it gives is called b.N times in all, by worker 0 and worker 1 side
// by side, with i from 0 for each. The first error ends it.
func (o opener) side(b *testing.B, setUp func(b bench) asking) {
	b.Helper()
	b.Run("1", func(b *testing.B) {
		b.ReportAllocs()
		ask := setUp(bench{o, b})
		for i := 0; b.Loop(); i++ {
			if err := ask(0, i); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("2", func(b *testing.B) {
		b.ReportAllocs()
		ask := setUp(bench{o, b})
		var (
			wg   sync.WaitGroup
			errs [workers]error
		)
		b.ResetTimer()
		for worker := range workers {
			wg.Go(func() {
				for i := range (b.N + worker) / workers {
					if err := ask(worker, i); err != nil {
						errs[worker] = err
						return
					}
				}
			})
		}
		wg.Wait()
		require.NoError(b, errors.Join(errs[:]...))
	})
}

// taking is one Take that must be allowed or not. It may run on any goroutine.
func (s subject) taking(ctx context.Context, r core.Request, allowed bool) error {
	res, err := s.store.Take(ctx, r)
	if err != nil {
		return fmt.Errorf("take: %w", err)
	}
	if res.Allowed != allowed {
		return fmt.Errorf("charge %d under %s: want allowed %t, got %t", r.Cost, limitsText(r.Limits), allowed, res.Allowed)
	}
	return nil
}

func (o opener) benchAllowed(limits ...core.Limit) func(*testing.B) {
	return func(b *testing.B) {
		o.side(b, func(b bench) asking {
			s := b.open(b)
			r := core.Request{Key: core.Key{Tier: "pro", ID: "ana"}, Limits: limits, Cost: 1}
			s.take(b, r)
			ctx := b.Context()
			return func(int, int) error { return s.taking(ctx, r, true) }
		})
	}
}

func (o opener) benchRefused(b *testing.B) {
	o.side(b, func(b bench) asking {
		s := b.open(b)
		r := core.Request{Key: core.Key{Tier: "pro", ID: "ana"}, Limits: list(gcra(1, time.Minute)), Cost: 1}
		s.take(b, r)
		ctx := b.Context()
		return func(int, int) error { return s.taking(ctx, r, false) }
	})
}

// benchSlidingLog keeps a log of 100 a minute full: at every request the oldest
// entry leaves. Moving the clock is part of the time.
func (o opener) benchSlidingLog(b *testing.B) {
	o.side(b, func(b bench) asking {
		s := b.open(b)
		r := core.Request{Key: core.Key{Tier: "pro", ID: "ana"}, Limits: list(sliding(100, time.Minute)), Cost: 1}
		for range 100 {
			s.clock.Advance(600 * ms)
			s.take(b, r)
		}
		ctx := b.Context()
		return func(int, int) error {
			s.clock.Advance(600 * ms)
			if _, err := s.store.Take(ctx, r); err != nil {
				return fmt.Errorf("take: %w", err)
			}
			return nil
		}
	})
}
