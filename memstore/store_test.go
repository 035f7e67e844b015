package memstore_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/memstore"
	"github.com/tierlimit/tierlimit/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(_ testing.TB, c *fakeclock.Clock) core.Store {
		return memstore.New(memstore.WithClock(c))
	})
}

func TestStoreThatHoldsFewKeys(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(tb testing.TB, c *fakeclock.Clock) core.Store {
		tb.Helper()
		s := memstore.New(memstore.WithClock(c), memstore.WithMaxKeys(2500))
		tb.Cleanup(func() { require.Zero(tb, s.Evicted(), "the bound is never reached") })
		return s
	})
}

func BenchmarkStore(b *testing.B) {
	storetest.Bench(b, func(_ testing.TB, c *fakeclock.Clock) core.Store {
		return memstore.New(memstore.WithClock(c))
	})
}

// TestAnythingAskedOfManyKeysEqualsApply asks while keys run out, are swept and
// are reset, and tables grow and shrink: nothing that has not run out may go.
func TestAnythingAskedOfManyKeysEqualsApply(t *testing.T) {
	t.Parallel()
	sets := [][]core.Limit{
		core.PerMinute(10).Limits(),
		core.PerSecond(20).WithBurst(40).Limits(), // the same plain bucket under another plan
		core.PerSecond(3).And(core.PerHour(50)).Limits(),
		core.PerHour(50).And(core.PerSecond(3)).Limits(), // the same set
		core.PerMinute(4).Using(core.FixedWindow).Limits(),
		core.PerMinute(4).Using(core.SlidingLog).Limits(),
		core.PerSecond(2).Using(core.SlidingLog).And(core.PerMinute(9)).And(core.PerDay(100).Using(core.FixedWindow)).Limits(),
	}
	bucketOf := []int{0, 0, 1, 1, 2, 3, 4}
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 11))
		s, clock := open()
		type bucket struct{ user, set int }
		states := map[bucket]*core.State{}
		for step := range scaled(40_000) {
			if random.IntN(40) == 0 {
				// Busy and quiet times take turns.
				clock.Advance(time.Duration(random.Int64N([]int64{3e8, 3e10}[step/5000%2])))
			}
			who, set := random.IntN(1200), random.IntN(len(sets))
			b := bucket{who, bucketOf[set]}
			if random.IntN(100) == 0 {
				require.NoError(t, s.Reset(t.Context(), user(who), sets[set]))
				delete(states, b)
				delete(states, bucket{who, 0})
				continue
			}
			r := core.Request{Key: user(who), Limits: sets[set], Cost: random.IntN(6)}
			switch random.IntN(8) {
			case 0:
				r.Mode = core.Look
			case 1:
				r.Mode = core.Force
			case 2:
				r.Mode, r.Cost = core.Force, -r.Cost
			}
			if states[b] == nil {
				states[b] = &core.State{}
			}
			want, got := core.Apply(states[b], clock.Now(), r), do(s, r)
			if want != got { // require costs more than all these questions
				require.Equal(t, want, got, "step %d: %+v", step, r)
			}
		}
		require.Zero(t, s.Evicted())
		clock.Advance(48 * time.Hour)
		traffic(s, 4000)
		require.Zero(t, s.Len())
	}
}

func TestResetForgetsTheSetAndThePlainBucket(t *testing.T) {
	t.Parallel()
	s, _ := open()
	plain, set := core.PerMinute(10).Limits(), core.PerSecond(5).And(core.PerHour(50)).Limits()
	charge(s, user(1), plain, 3)
	charge(s, user(1), set, 3)
	charge(s, user(2), plain, 3)
	require.Equal(t, 3, s.Len())
	require.NoError(t, s.Reset(t.Context(), user(1), set))
	require.Equal(t, 1, s.Len())
	require.Equal(t, 10, look(s, user(1), plain).Levels[0].Remaining)
	require.Equal(t, 7, look(s, user(2), plain).Levels[0].Remaining)
	require.NoError(t, s.Reset(t.Context(), user(3), plain))
	require.NoError(t, s.Reset(t.Context(), user(3), set))
	require.Equal(t, 1, s.Len())
}

func TestWhatChangesNothingIsNotKept(t *testing.T) {
	t.Parallel()
	s, _ := open()
	for _, limits := range [][]core.Limit{
		core.PerMinute(10).Limits(),
		core.PerMinute(10).Using(core.FixedWindow).Limits(),
		core.PerMinute(10).Using(core.SlidingLog).Limits(),
		core.PerSecond(5).And(core.PerHour(50)).Limits(),
		nil,
	} {
		charge(s, user(1), limits, 0)
		look(s, user(2), limits)
		force(s, user(3), limits, 0)
		force(s, user(4), limits, -5)
		if limits != nil {
			require.False(t, charge(s, user(5), limits, 51).Allowed)
		}
		require.Zero(t, s.Len())
	}
}

func TestWrongWiringPanicsAtOnce(t *testing.T) {
	t.Parallel()
	require.PanicsWithValue(t, "memstore: WithClock: the clock is nil", func() { memstore.WithClock(nil) })
	require.PanicsWithValue(t, "memstore: WithMaxKeys(0), must be at least 1", func() { memstore.WithMaxKeys(0) })
	require.PanicsWithValue(t, "memstore: WithMaxKeys(-7), must be at least 1", func() { memstore.WithMaxKeys(-7) })
}
