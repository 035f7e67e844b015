package redisstore_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/memstore"
	"github.com/tierlimit/tierlimit/redisstore"
)

// TestEveryMicrosecondIsKept: 16 digits, of which a script that writes numbers
// as Redis's Lua prints them loses two.
func TestEveryMicrosecondIsKept(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r anyRedis) {
		t.Helper()
		const odd = 1_789_012_345_678_901 // µs
		clock := fakeclock.New(time.UnixMicro(odd))
		hour := time.UnixMicro(odd).Truncate(time.Hour).UnixMicro()
		s := r.store(redisstore.WithClock(clock))
		one, two := core.Per(1, 7*time.Microsecond).WithBurst(3), core.Per(1, time.Hour).WithBurst(5)
		fixed, sliding := core.Per(9, time.Hour).Using(core.FixedWindow), core.Per(9, time.Hour).Using(core.SlidingLog)
		for name, c := range map[string]struct {
			limits []core.Limit
			want   string
		}{
			"lone":  {one.Limits(), digits(odd + 7)},
			"two":   {one.And(two).Limits(), digits(odd+7) + " " + digits(odd+3_600_000_000)},
			"fixed": {fixed.Limits(), digits(hour) + ":1"},
			"log":   {sliding.Limits(), fmt.Sprintf("[base 0 %d 1]", int64(odd))},
			"mixed": {fixed.And(one).Limits(), digits(odd+7) + " " + digits(hour) + ":1"},
		} {
			charge(t, s, user(1), c.limits, 1)
			require.Equal(t, c.want, r.dump(t, s.RedisKey(user(1), c.limits)), name)
		}
		res := look(t, s, user(1), one.Limits())
		require.Equal(t, 7*time.Microsecond, res.Levels[0].ResetAfter)
		clock.Advance(time.Microsecond)
		require.Equal(t, 6*time.Microsecond, look(t, s, user(1), one.Limits()).Levels[0].ResetAfter)
	})
}

func digits(n int64) string { return strconv.FormatInt(n, 10) }

func TestHighRatesAreKept(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r anyRedis) {
		t.Helper()
		s := r.store()
		for name, c := range map[string]struct {
			quota core.Quota
			left  int
		}{
			"6000/s":    {core.PerSecond(6000), 5999},
			"1000000/s": {core.PerSecond(1_000_000).WithBurst(1), 0},
		} {
			limits := c.quota.Limits()
			key := core.Key{Tier: name}
			require.Equal(t, c.left, charge(t, s, key, limits, 1).Levels[0].Remaining, name)
			if !r.real { // else it may have expired: see below
				require.Equal(t, time.Millisecond, r.pttl(t, s.RedisKey(key, limits)), name)
			}
		}
		limits, key := core.PerSecond(6000).Limits(), user(1)
		require.Zero(t, charge(t, s, key, limits, 6000).Levels[0].Remaining)
		life := r.pttl(t, s.RedisKey(key, limits))
		require.Positive(t, life, "there is a key, and it expires")
		require.LessOrEqual(t, life, 6000*167*time.Microsecond, "a sixth of a millisecond is rounded up")
	})
}

// TestTheShortestStateIsWritten, with an expiry: it is gone before it can be
// asked for, so that this looks at what the script does.
func TestTheShortestStateIsWritten(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := anyRedis{server.Client(t), true}.store()
	for _, quota := range []core.Quota{core.PerSecond(6000), core.PerSecond(1_000_000).WithBurst(1)} {
		limits := quota.Limits()
		key := s.RedisKey(user(1), limits)
		monitor := server.Monitor(t)
		require.True(t, charge(t, s, user(1), limits, 1).Allowed)
		writes := slices.DeleteFunc(monitor.Stop(t), func(c redistest.Command) bool {
			return c.Client != "lua" || !strings.EqualFold(c.Words[0], "set")
		})
		require.Len(t, writes, 1)
		require.Equal(t, key, writes[0].Words[1])
		require.Regexp(t, `^\d{16}$`, writes[0].Words[2])
		require.Equal(t, []string{"PX", "1"}, writes[0].Words[3:], "rounded up")
		server.Do(t, "DEL", key)
	}
}

// TestAHighRateAdmitsNoMoreThanItsBound sends 20,000 checks as fast as it can.
func TestAHighRateAdmitsNoMoreThanItsBound(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r anyRedis) {
		t.Helper()
		checks := 20_000
		if !r.real || raceDetector {
			checks = 4000
		}
		s, key := r.store(), user(1)
		limits := core.PerSecond(6000).WithBurst(600).Limits()
		counts := make([]int, 64)
		began := r.now(t)
		together(len(counts), func(worker int) {
			for range checks / len(counts) {
				res, err := s.Take(t.Context(), core.Request{Key: key, Limits: limits, Cost: 1})
				if err == nil && res.Allowed {
					counts[worker]++
				}
			}
		})
		span := r.now(t).Sub(began)
		admitted := 0
		for _, n := range counts {
			admitted += n
		}
		require.LessOrEqual(t, admitted, 600+int(span/(167*time.Microsecond))+1)
		require.GreaterOrEqual(t, admitted, min(600, checks))
	})
}

func TestNoArithmeticWraps(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r anyRedis) {
		t.Helper()
		const day = 24 * time.Hour
		exact := int64(1)<<53 - 1 // what Lua holds exactly
		clock := fakeclock.New(time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC))
		s := r.store(redisstore.WithClock(clock))
		judged := 0
		for _, algorithm := range []core.Algorithm{core.GCRA, core.FixedWindow, core.SlidingLog} {
			for _, count := range []int{1, 1_000_000, int(exact), math.MaxInt} {
				for _, window := range []time.Duration{1, time.Second, day, 366 * day, 100 * 366 * day} {
					quota := core.Per(count, window).Using(algorithm)
					if _, err := core.New(memstore.New(), core.Plans{Tiers: map[string]core.Quota{"t": quota}}); err != nil {
						continue // no limiter asks with these
					}
					judged++
					state, key := &core.State{}, core.Key{Tier: algorithm.String(), ID: fmt.Sprint(count, window)}
					for _, q := range []core.Request{
						{Cost: 1},
						{Cost: 200_000_000},
						{Cost: math.MaxInt},
						{Cost: math.MaxInt, Mode: core.Look},
						{Cost: 200_000_000, Mode: core.Force},
						{Cost: math.MaxInt, Mode: core.Force},
						{Cost: 1},
						{Cost: -1, Mode: core.Force},
						{Cost: math.MinInt, Mode: core.Force},
						{Cost: math.MinInt},
						{Cost: count},
					} {
						q.Key, q.Limits = key, quota.Limits()
						want, got := core.Apply(state, clock.Now(), q), take(t, s, q)
						want.Now = time.Time{}
						require.Equal(t, want, got, "%v: %v %d", quota, q.Mode, q.Cost)
						if got.Allowed && q.Mode == core.Charge {
							require.LessOrEqual(t, q.Cost, count)
						}
					}
				}
			}
		}
		require.Greater(t, judged, 30)
	})
}
