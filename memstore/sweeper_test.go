package memstore

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
)

// kinds are the two ways in which a key is kept.
func kinds() map[string][]core.Limit {
	return map[string][]core.Limit{
		"cells":   core.PerMinute(10).Limits(),
		"buckets": core.PerMinute(10).Using(core.FixedWindow).Limits(),
	}
}

func TestATakeVisitsFewFurtherKeys(t *testing.T) {
	t.Parallel()
	for name, limits := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := fakeclock.New(time.UnixMicro(noon))
			s := New(WithClock(clock), WithMaxKeys(2000)) // one shard: the cursor tells all
			for i := range 1500 {
				_, err := s.Take(t.Context(), core.Request{Key: core.Key{ID: string(rune(0x4e00 + i))}, Limits: limits, Cost: 1})
				require.NoError(t, err)
			}
			clock.Advance(time.Hour)
			w := &s.sweeper
			for takes := 0; s.Len() > 0; takes++ {
				require.Less(t, takes, 1000)
				cell, held := w.cell, s.Len()
				_, err := s.Take(t.Context(), core.Request{Limits: limits, Mode: core.Look})
				require.NoError(t, err)
				require.LessOrEqual(t, held-s.Len(), sweepBudget)
				require.LessOrEqual(t, w.cell-cell, sweepBudget)
			}
		})
	}
}

func TestTheSweeperRestsWhileNothingCanHaveRunOut(t *testing.T) {
	t.Parallel()
	clock := fakeclock.New(time.UnixMicro(noon))
	s := New(WithClock(clock))
	limits := core.PerMinute(10).Limits()
	ask := func(id string, cost int) {
		_, err := s.Take(t.Context(), core.Request{Key: core.Key{ID: id}, Limits: limits, Cost: cost})
		require.NoError(t, err)
	}
	require.Equal(t, never, s.sweeper.earliest.Load())
	ask("ana", 2)
	require.Equal(t, noon+12_000_000, s.sweeper.earliest.Load())
	ask("bob", 1)
	require.Equal(t, noon+6_000_000, s.sweeper.earliest.Load())
	ask("bob", 3)
	require.Equal(t, noon+6_000_000, s.sweeper.earliest.Load(), "a charge only puts it off")
	clock.Advance(5 * time.Second)
	ask("nobody", 0)
	require.Zero(t, s.sweeper.shard, "nothing to do yet")
	clock.Advance(time.Second)
	ask("nobody", 0)
	require.NotZero(t, s.sweeper.shard)
}

func TestABucketThatMovesBehindTheSweepIsNotForgotten(t *testing.T) {
	t.Parallel()
	clock := fakeclock.New(time.UnixMicro(noon))
	s := New(WithClock(clock), WithMaxKeys(2000)) // one shard
	ask := func(id int, window time.Duration, mode core.Mode) {
		limits := core.Per(10, window).Using(core.SlidingLog).Limits()
		_, err := s.Take(t.Context(), core.Request{Key: core.Key{ID: string(rune('A' + id))}, Limits: limits, Cost: 1, Mode: mode})
		require.NoError(t, err)
	}
	ask(0, time.Minute, core.Charge)
	for id := 1; id < 39; id++ {
		ask(id, time.Hour, core.Charge)
	}
	ask(39, 10*time.Minute, core.Charge)
	ask(40, time.Hour, core.Charge)
	ask(41, time.Second, core.Charge)
	clock.Advance(time.Second)
	for range 20 { // a first round, after which nobody remembers what was put in
		ask(41, time.Second, core.Look)
	}
	clock.Advance(2 * time.Minute)
	ask(0, time.Minute, core.Look) // the first has run out, and a round begins
	require.Equal(t, 40, s.Len())
	require.Greater(t, s.sweeper.cell, minCells+5)
	require.NoError(t, s.Reset(t.Context(), core.Key{ID: "D"}, core.Per(10, time.Hour).Using(core.SlidingLog).Limits()))
	for range 20 {
		ask(0, time.Minute, core.Look)
	}
	clock.Advance(8 * time.Minute)
	for range 20 {
		ask(0, time.Minute, core.Look)
	}
	require.Equal(t, 38, s.Len(), "the last one has run out")
}

// TestEveryKeyIsExpected: whatever happens, nothing that the store holds runs
// out before the sweeper expects something to.
func TestEveryKeyIsExpected(t *testing.T) {
	t.Parallel()
	sets := [][]core.Limit{
		core.PerMinute(10).Limits(), core.PerHour(100).Limits(), core.PerSecond(5).Limits(),
		core.PerSecond(3).And(core.PerHour(50)).Limits(), core.PerMinute(4).Using(core.SlidingLog).Limits(),
	}
	for seed := range uint64(6) {
		random := rand.New(rand.NewPCG(seed, 3))
		clock := fakeclock.New(time.UnixMicro(noon))
		s := New(WithClock(clock), WithMaxKeys(150))
		var began, pause int64 // the last round, and until when the sweeper rests because that took time
		for step := range 2000 {
			swept := s.sweeper.shard > 0 || s.sweeper.cell > 0
			key := core.Key{ID: string(rune('a' + random.IntN(300)))}
			limits := sets[random.IntN(len(sets))]
			switch random.IntN(12) {
			case 0:
				clock.Advance(time.Duration(random.Int64N(int64(5 * time.Second))))
			case 1:
				require.NoError(t, s.Reset(t.Context(), key, limits))
			case 2, 3:
				_, err := s.Take(t.Context(), core.Request{Key: key, Limits: limits, Cost: -random.IntN(8), Mode: core.Force})
				require.NoError(t, err)
			default:
				_, err := s.Take(t.Context(), core.Request{Key: key, Limits: limits, Cost: 1 + random.IntN(3)})
				require.NoError(t, err)
			}
			now := clock.Now().UnixMicro()
			switch sweeping := s.sweeper.shard > 0 || s.sweeper.cell > 0; {
			case sweeping && !swept:
				began = now
			case swept && !sweeping:
				pause = now + now - began
			}
			if step%4 == 0 {
				s.checkExpected(t, now, pause)
			}
		}
	}
}

// checkExpected holds what each key of s runs out at against what the sweeper
// waits for, and the number of keys against the keys.
func (s *Store) checkExpected(t *testing.T, now, pause int64) {
	t.Helper()
	w := &s.sweeper
	resting := w.shard == 0 && w.cell == 0
	held := 0
	for i := range s.shards {
		sh := &s.shards[i]
		table := sh.table.Load()
		see := func(place int, expires int64) {
			held++
			// What this round has yet to come to needs nobody to expect it.
			if !resting && (i > w.shard || i == w.shard && (w.table != table || place >= w.cell)) {
				return
			}
			due := w.soonest.Load()
			if resting {
				due = w.earliest.Load()
			}
			if expires < due && (!resting || due > pause) {
				require.Failf(t, "forgotten", "runs out at %d, the sweeper waits for %d, now %d", expires, due, now)
			}
		}
		for c := range table.cells {
			if table.cells[c].hash.Load() > deleted {
				see(c, tatOf(table.cells[c].word.Load()))
			}
		}
		for b := range sh.buckets {
			if sh.buckets[b].index != b {
				require.Equal(t, b, sh.buckets[b].index)
			}
			see(len(table.cells)+b, sh.buckets[b].expires())
		}
	}
	require.Equal(t, held, s.Len())
	require.LessOrEqual(t, held, int(s.maxKeys))
}
