package denystore_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// TestItNeverRefusesWhatTheStoreWouldAllow: beside a store without a cache, on
// random steps, every answer is the same number for number, but for what a log
// has left while it refuses. Nothing else writes, so the age makes no difference.
func TestItNeverRefusesWhatTheStoreWouldAllow(t *testing.T) {
	t.Parallel()
	sets := [][]core.Limit{
		core.PerMinute(10).Limits(),
		core.PerMinute(10).WithBurst(3).Limits(),
		core.PerSecond(7).WithBurst(20).Limits(),
		core.PerSecond(5).Using(core.FixedWindow).Limits(),
		core.Per(9, 4*time.Second).Using(core.SlidingLog).Limits(),
		core.PerSecond(5).And(core.PerMinute(40)).Limits(),
		core.PerSecond(5).And(core.Per(30, 20*time.Second).Using(core.FixedWindow)).Limits(),
		core.PerSecond(6).And(core.PerMinute(50).Using(core.SlidingLog)).Limits(),
		core.PerSecond(9).And(core.Per(8, 2*time.Second).Using(core.FixedWindow)).
			And(core.Per(20, 7*time.Second).Using(core.SlidingLog)).And(core.PerHour(400)).Limits(),
	}
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 20261002))
		c := newCached()
		c.next.Store = newReference(c.clock)
		plain := newReference(c.clock)
		refused, fromMemory := 0, 0
		for step := range 5000 {
			w := walk{rng: rng, sets: sets, focus: step / 100}
			c.clock.Advance(w.time())
			r := w.request()
			if rng.IntN(200) == 0 {
				require.NoError(t, c.Reset(t.Context(), r.Key, r.Limits))
				require.NoError(t, plain.Reset(t.Context(), r.Key, r.Limits))
				continue
			}
			calls := c.next.calls.Load()
			got, want := take(t, c, r), take(t, plain, r)
			if !want.Allowed {
				refused++
			}
			if c.next.calls.Load() == calls {
				fromMemory++
				got.Now = want.Now
				for i, l := range r.Limits {
					if l.Algorithm == core.SlidingLog {
						require.LessOrEqual(t, got.Levels[i].Remaining, want.Levels[i].Remaining)
						got.Levels[i].Remaining = want.Levels[i].Remaining
					}
				}
			}
			require.Equal(t, want, got, "seed %d, step %d: %+v", seed, step, r)
		}
		require.Greater(t, refused, 500)
		require.Greater(t, fromMemory, refused/5, "or the walk proves nothing")
	}
}

// walk chooses steps: for a while a caller hammers under one set of limits.
type walk struct {
	rng   *rand.Rand
	sets  [][]core.Limit
	focus int
}

// time moves on by anything from nothing to more than a window, now and then
// back.
func (w walk) time() time.Duration {
	switch w.rng.IntN(20) {
	case 0:
		return time.Duration(w.rng.Int64N(int64(10 * time.Second)))
	case 1:
		return -time.Duration(w.rng.Int64N(int64(3 * time.Second)))
	case 2, 3:
		return 0
	default:
		return time.Duration(w.rng.Int64N(int64(150 * time.Millisecond)))
	}
}

func (w walk) request() core.Request {
	set, user := w.focus%len(w.sets), w.focus%3
	if w.rng.IntN(5) == 0 {
		set, user = w.rng.IntN(len(w.sets)), w.rng.IntN(3)
	}
	r := core.Request{Key: core.Key{Tier: "pro", ID: fmt.Sprint("user-", user)}, Limits: w.sets[set], Cost: 1}
	switch w.rng.IntN(40) {
	case 0:
		r.Mode, r.Cost = core.Force, w.rng.IntN(8)
	case 1:
		r.Mode, r.Cost = core.Force, -w.rng.IntN(8)
	case 2:
		r.Mode, r.Cost = core.Look, w.rng.IntN(8)
	case 3, 4, 5, 6, 7:
		r.Cost = w.rng.IntN(14) // also more than a bucket
	}
	return r
}
