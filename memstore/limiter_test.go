package memstore_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/memstore"
)

func TestNPerPeriodAdmitsNoMoreThanTheBound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ burst, least, most int }{{17, 32, 34}, {1, 16, 18}} {
		s, clock := open()
		limits := core.Per(17, 30*time.Second).WithBurst(c.burst).Limits()
		admitted := 0
		for range 31 {
			for range 2 {
				if charge(s, user(1), limits, 1).Allowed {
					admitted++
				}
			}
			clock.Advance(time.Second)
		}
		require.LessOrEqual(t, admitted, c.most)
		require.GreaterOrEqual(t, admitted, c.least)
	}
}

func TestAHighRateIsKept(t *testing.T) {
	t.Parallel()
	s, clock := open()
	limits := core.PerSecond(6000).Limits()
	res := charge(s, user(1), limits, 1)
	require.True(t, res.Allowed)
	require.Equal(t, 5999, res.Levels[0].Remaining)
	require.Equal(t, 167*time.Microsecond, res.Levels[0].ResetAfter, "rounded up")
	require.Equal(t, 1, s.Len())
	admitted := 1
	for range 20_000 {
		if charge(s, user(1), limits, 1).Allowed {
			admitted++
		}
	}
	require.Equal(t, 6000, admitted)
	clock.Advance(167 * time.Microsecond)
	require.True(t, charge(s, user(1), limits, 1).Allowed)
	require.False(t, charge(s, user(1), limits, 1).Allowed)

	fastest := core.PerSecond(1_000_000).WithBurst(1).Limits()
	require.True(t, charge(s, user(2), fastest, 1).Allowed)
	require.False(t, charge(s, user(2), fastest, 1).Allowed)
	require.Equal(t, 2, s.Len())
	for range 1000 {
		clock.Advance(time.Microsecond)
		require.True(t, charge(s, user(2), fastest, 1).Allowed)
		require.False(t, charge(s, user(2), fastest, 1).Allowed)
	}
}

func TestAHighRateHoldsByThisMachinesClock(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	limits := core.PerSecond(6000).Limits()
	began := time.Now()
	admitted := 0
	for range 20_000 {
		if charge(s, user(1), limits, 1).Allowed {
			admitted++
		}
	}
	require.LessOrEqual(t, admitted, 6000+int(time.Since(began)/(166*time.Microsecond))+1)
	require.GreaterOrEqual(t, admitted, 6000)
}

func TestWhatNewAcceptsIsJudgedRight(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for _, count := range []int{1, 1_000_000, math.MaxInt} {
		for _, window := range []time.Duration{1, time.Second, day, 366 * day, 36_600 * day} {
			for _, cost := range []int{1, 200_000_000, math.MaxInt} {
				s := memstore.New()
				limiter, err := core.New(s, core.Plans{Tiers: map[string]core.Quota{"t": core.Per(count, window)}, Default: "t"})
				if err != nil {
					continue
				}
				d := limiter.Take(t.Context(), core.Identity{Key: "ana"}, cost)
				require.Equal(t, cost <= count, d.Allowed(), "%d per %v, cost %d", count, window, cost)
				require.GreaterOrEqual(t, d.Level.Remaining, 0)
				require.GreaterOrEqual(t, d.Level.ResetAfter, time.Duration(0))
				require.GreaterOrEqual(t, d.Level.RetryAfter, time.Duration(0))
			}
		}
	}
}

func TestOneLimiterServesManyUsersOfManyPlans(t *testing.T) { //nolint:paralleltest // measures the heap
	plans := core.Plans{Tiers: map[string]core.Quota{}, Default: "tier-0", Overrides: map[string]core.Quota{}}
	for i := range 5 {
		plans.Tiers[fmt.Sprint("tier-", i)] = core.PerMinute(i + 1)
	}
	users := scaled(100_000)
	for i := range users / 100 {
		plans.Overrides[user(i*100).ID] = core.PerMinute(7)
	}
	s, clock := open()
	limiter, err := core.New(s, plans, core.WithClock(clock))
	require.NoError(t, err)
	before := heap()
	for i := range users {
		id := core.Identity{Key: user(i).ID, Tier: fmt.Sprint("tier-", i%5)}
		limit := i%5 + 1
		if i%100 == 0 {
			limit = 7
		}
		for used := range limit {
			if d := limiter.Take(t.Context(), id, 1); !d.Allowed() || d.Level.Remaining != limit-used-1 {
				require.Failf(t, "wrong", "user %d: %+v", i, d.Level)
			}
		}
		if limiter.Take(t.Context(), id, 1).Allowed() {
			require.Failf(t, "wrong", "user %d", i)
		}
	}
	require.Equal(t, users, s.Len())
	require.Less(t, heap()-before, int64(64*users), "bytes for %d users", users)
	runtime.KeepAlive(limiter)
}
