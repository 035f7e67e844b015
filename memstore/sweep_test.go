package memstore_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// kinds are the ways in which a key may be kept, all full again after an hour.
func kinds() map[string][]core.Limit {
	return map[string][]core.Limit{
		"gcra":    core.PerHour(10).Limits(),
		"fixed":   core.PerHour(10).Using(core.FixedWindow).Limits(),
		"log":     core.PerHour(10).Using(core.SlidingLog).Limits(),
		"windows": core.PerMinute(10).And(core.PerHour(10)).Limits(),
	}
}

func TestWhatHasRunOutGoesWithTrafficAlone(t *testing.T) {
	t.Parallel()
	for name, limits := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, clock := open()
			for i := range 3000 {
				charge(s, user(i), limits, 10)
			}
			traffic(s, 2000)
			require.Equal(t, 3000, s.Len(), "nothing has run out yet")
			clock.Advance(time.Hour)
			require.Equal(t, 3000, s.Len(), "without traffic nothing goes")
			traffic(s, 1)
			require.GreaterOrEqual(t, s.Len(), 3000-16, "one check visits at most 16")
			traffic(s, 1000)
			require.Zero(t, s.Len())
			require.Zero(t, s.Evicted(), "nobody was pushed out")
		})
	}
}

func TestABusyKeyAloneSweepsTheOthers(t *testing.T) {
	t.Parallel()
	s, clock := open()
	limits := core.PerHour(10).Limits()
	for i := range 3000 {
		charge(s, user(i), limits, 1)
	}
	clock.Advance(time.Hour)
	for range 1000 {
		charge(s, user(0), limits, 1) // allowed, then refused: both sweep
	}
	require.Equal(t, 1, s.Len())
}

// The way that a limiter goes for the usual charge sweeps as well.
func TestALimitersChecksSweep(t *testing.T) {
	t.Parallel()
	s, clock := open()
	l, err := core.New(s, core.Plans{Tiers: map[string]core.Quota{"free": core.PerHour(10)}, Default: "free"}, core.WithClock(clock))
	require.NoError(t, err)
	for i := range 3000 {
		require.True(t, l.Take(t.Context(), core.Identity{Key: user(i).ID}, 1).Allowed())
	}
	clock.Advance(time.Hour)
	for range 1000 {
		l.Take(t.Context(), core.Identity{Key: user(0).ID}, 1)
	}
	require.Equal(t, 1, s.Len())
}

func TestAKeyThatWasGivenBackGoesInTime(t *testing.T) {
	t.Parallel()
	for name, limits := range kinds() {
		if name == "fixed" {
			continue // it runs out when its window ends, whatever is given back
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, clock := open()
			for i := range 500 {
				charge(s, user(i), limits, 10)
			}
			traffic(s, 1000)
			for i := range 500 {
				force(s, user(i), limits, -10)
			}
			traffic(s, 1000)
			require.Zero(t, s.Len(), "full again at once")

			for i := range 500 {
				charge(s, user(i), limits, 10)
			}
			clock.Advance(10 * time.Minute)
			traffic(s, 1000)
			for i := range 500 {
				force(s, user(i), limits, -8)
			}
			clock.Advance(time.Hour - 10*time.Minute)
			traffic(s, 1000)
			require.Zero(t, s.Len())
		})
	}
}

func TestAClockThatWasSetBackLocksNobodyOutAndKeepsNothingForEver(t *testing.T) {
	t.Parallel()
	for name, limits := range kinds() {
		s, clock := open()
		for i := range 500 {
			charge(s, user(i), limits, 10)
		}
		clock.Advance(-30 * 24 * time.Hour)
		traffic(s, 1000)
		require.Equal(t, 500, s.Len(), "nothing has run out")
		var wait time.Duration
		for i := range 500 {
			res := charge(s, user(i), limits, 1)
			require.False(t, res.Allowed, name)
			wait = res.Levels[len(limits)-1].RetryAfter
		}
		clock.Advance(wait)
		for i := range 500 {
			require.True(t, charge(s, user(i), limits, 1).Allowed, "%s: who waits as told is let in", name)
		}
		clock.Advance(time.Hour)
		traffic(s, 1000)
		require.Zero(t, s.Len(), name)
	}
}

func TestAQuietTimeInTheMiddleOfARoundPutsNothingOff(t *testing.T) {
	t.Parallel()
	s, clock := open()
	long := core.PerDay(86_400).Limits()
	charge(s, user(0), long, 10_000)
	for i := range 2000 {
		charge(s, user(1+i), core.PerMinute(10).Limits(), 1)
		charge(s, user(5000+i), core.PerHour(1).Limits(), 1)
	}
	busy := func(n int) {
		for range n {
			charge(s, user(0), long, 1)
		}
	}
	clock.Advance(time.Minute)
	busy(100) // a round is on its way
	clock.Advance(50 * time.Minute)
	busy(2000) // and ends
	require.Equal(t, 2001, s.Len())
	clock.Advance(15 * time.Minute)
	busy(2000)
	require.Equal(t, 1, s.Len())
}

func TestABucketWhoseDebtWasMendedGoesInTime(t *testing.T) {
	t.Parallel()
	for name, limits := range kinds() {
		s, clock := open()
		for i := range 500 {
			charge(s, user(i), limits, 10)
		}
		clock.Advance(-30 * 24 * time.Hour)
		for i := range 500 {
			require.False(t, charge(s, user(i), limits, 1).Allowed, name)
		}
		clock.Advance(time.Hour)
		traffic(s, 1000)
		require.Zero(t, s.Len(), name)
	}
}

func TestTheSweepKeepsUpWhileTablesGrow(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string][]core.Limit{
		"gcra":    core.PerMinute(10).Limits(),                               // one lives for 6 s
		"windows": core.PerSecond(1).And(core.Per(10, time.Minute)).Limits(), // as above
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, clock := open()
			for i := range scaled(100_000) {
				clock.Advance(time.Millisecond)
				charge(s, user(i), limits, 1)
				if s.Len() > 3*6000 {
					require.Failf(t, "too many", "%d held, 6,000 are alive", s.Len())
				}
			}
			require.Zero(t, s.Evicted())
		})
	}
}

func TestMemoryIsGivenBack(t *testing.T) { //nolint:paralleltest // measures the heap
	limits := core.PerMinute(10).Limits()
	s, clock := open()
	empty := heap()
	count := scaled(1_000_000)
	for i := range count {
		charge(s, user(i), limits, 1)
	}
	require.Equal(t, count, s.Len())
	full := heap() - empty
	require.Less(t, full, int64(60*count), "bytes that %d keys cost", count)
	clock.Advance(time.Minute)
	traffic(s, count/5)
	require.Zero(t, s.Len())
	require.Less(t, heap()-empty, full/50)
	runtime.KeepAlive(s)
}
