package memstore_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/memstore"
)

func TestThisMachinesClockIsShown(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*memstore.Store{
		"none given":   memstore.New(),
		"SystemClock":  memstore.New(memstore.WithClock(core.SystemClock)),
		"the last one": memstore.New(memstore.WithClock(fakeclock.New(start)), memstore.WithClock(core.SystemClock)),
	} {
		for _, limits := range kinds() {
			for range 100 {
				before := time.Now()
				res := charge(s, user(1), limits, 1)
				require.WithinDuration(t, before, res.Now, time.Second, name)
				require.NotEqual(t, res.Now.Round(0), res.Now, "%s: a monotonic reading is in it", name)
				require.GreaterOrEqual(t, res.Now.Sub(before), -time.Millisecond)
			}
		}
	}
}

func TestThisMachinesClockGivesBack(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	limits := core.Per(1, 2*time.Millisecond).Limits()
	began := time.Now()
	admitted := 0
	for time.Since(began) < 300*time.Millisecond {
		if charge(s, user(1), limits, 1).Allowed {
			admitted++
		}
	}
	most := int(time.Since(began)/(2*time.Millisecond)) + 1
	require.LessOrEqual(t, admitted, most)
	require.Greater(t, admitted, 1)
}

func TestAGivenClockIsShownAsItIs(t *testing.T) {
	t.Parallel()
	s, clock := open()
	limits := core.PerMinute(10).Limits()
	require.Equal(t, start, charge(s, user(1), limits, 1).Now)
	clock.Advance(1500 * time.Nanosecond)
	require.Equal(t, start.Add(1500), charge(s, user(1), limits, 1).Now)
}

func TestAnyMomentIsJudged(t *testing.T) {
	t.Parallel()
	moments := []time.Time{
		{},
		time.Unix(0, 0), time.Unix(-1, 0), start, time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-300, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(2262, 4, 12, 0, 0, 0, 0, time.UTC), time.Date(3900, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	for _, moment := range moments {
		for name, limits := range kinds() {
			s, clock := open()
			clock.Set(moment)
			require.True(t, charge(s, user(1), limits, 10).Allowed, "%s at %v", name, moment)
			require.False(t, charge(s, user(1), limits, 1).Allowed, "%s at %v", name, moment)
			clock.Advance(time.Hour)
			require.True(t, charge(s, user(1), limits, 1).Allowed, "%s an hour after %v", name, moment)
			require.Equal(t, 1, s.Len())
		}
	}
	// The debt of a lone GCRA window stands still from the year 3968 on.
	for _, moment := range []time.Time{time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(-9999, 1, 1, 0, 0, 0, 0, time.UTC)} {
		for name, limits := range kinds() {
			s, clock := open()
			clock.Set(moment)
			require.True(t, charge(s, user(1), limits, 10).Allowed, "%s at %v", name, moment)
			require.False(t, charge(s, user(1), limits, 1).Allowed, "%s at %v", name, moment)
		}
	}
}

func TestNoMomentPanics(t *testing.T) {
	t.Parallel()
	for _, moment := range []time.Time{
		time.UnixMicro(math.MaxInt64), time.UnixMicro(math.MinInt64), time.Unix(math.MaxInt64, 0), time.Unix(math.MinInt64, 0),
	} {
		for name, limits := range kinds() {
			s, clock := open(memstore.WithMaxKeys(5))
			for i := range 10 {
				charge(s, user(i), limits, 1)
				clock.Set(moment)
				require.NotPanics(t, func() { charge(s, user(i), limits, 10) }, "%s at %v", name, moment)
				clock.Advance(time.Hour)
				charge(s, user(i), limits, 1)
				clock.Set(start)
			}
			require.LessOrEqual(t, s.Len(), 5)
		}
	}
}

func TestAClockSetAcrossACenturyNeverLocksOut(t *testing.T) {
	t.Parallel()
	for name, limits := range kinds() {
		s, clock := open()
		for _, years := range []int{0, 100, 0, -100, 100, 0, 1900, -2000, 0} {
			clock.Set(start.AddDate(years, 0, 0))
			for i := range 50 {
				res := charge(s, user(i), limits, 1)
				require.LessOrEqual(t, res.Levels[0].RetryAfter, time.Hour, name)
				require.LessOrEqual(t, res.Levels[0].ResetAfter, time.Hour, name)
			}
			clock.Advance(time.Hour)
			for i := range 50 {
				require.True(t, charge(s, user(i), limits, 10).Allowed, "%s, year %d", name, clock.Now().Year())
			}
		}
	}
}
