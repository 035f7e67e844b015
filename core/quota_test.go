package core_test

import (
	"math"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// fault is what New says of a tier named "pro" that grants q; "" when it is fine.
func fault(q core.Quota) string {
	_, err := core.New(newStore(core.SystemClock), only("pro", q))
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestConstructorsGrantWhatTheySay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		q    core.Quota
		want core.Limit
	}{
		{core.PerSecond(20), core.Limit{Count: 20, Window: sec, Burst: 20}},
		{core.PerMinute(10), core.Limit{Count: 10, Window: minute, Burst: 10}},
		{core.PerHour(100), core.Limit{Count: 100, Window: hour, Burst: 100}},
		{core.PerDay(50_000), core.Limit{Count: 50_000, Window: day, Burst: 50_000}},
		{core.Per(17, 30*sec), core.Limit{Count: 17, Window: 30 * sec, Burst: 17}},
		{core.Per(1, sec+1), core.Limit{Count: 1, Window: sec + us, Burst: 1}}, // whole microseconds, rounded up
		{core.PerSecond(20).WithBurst(40), core.Limit{Count: 20, Window: sec, Burst: 40}},
		{core.PerDay(1000).Using(core.FixedWindow), core.Limit{Algorithm: core.FixedWindow, Count: 1000, Window: day, Burst: 1000}},
		{core.PerDay(1000).Using(core.SlidingLog), core.Limit{Algorithm: core.SlidingLog, Count: 1000, Window: day, Burst: 1000}},
		{core.PerDay(1000).Using(core.SlidingLog).Using(core.GCRA).WithBurst(5), core.Limit{Count: 1000, Window: day, Burst: 5}},
	} {
		require.Equal(t, []core.Limit{c.want}, c.q.Limits())
		require.Empty(t, fault(c.q))
	}
	require.Empty(t, core.Unlimited().Limits())
	require.Empty(t, core.Blocked().Limits())
	require.True(t, core.Unlimited().IsUnlimited())
	require.False(t, core.Blocked().IsUnlimited())
	require.False(t, core.Quota{}.IsUnlimited())
}

func TestQuotaIsImmutable(t *testing.T) {
	t.Parallel()
	q := core.PerSecond(20).And(core.PerDay(1000))
	before := q
	q.Limits()[0].Count = 1
	q.WithBurst(5)
	q.Using(core.SlidingLog)
	q.And(core.PerMinute(5))
	q.Shadow()
	require.Equal(t, before, q)
	require.Equal(t, 20, q.Limits()[0].Count)
}

func TestEqualQuotasGrantTheSame(t *testing.T) {
	t.Parallel()
	a, b := core.PerSecond(20), core.PerDay(1000)
	require.True(t, a.And(b).Equal(b.And(a)), "the order does not matter")
	require.True(t, core.PerMinute(10).Equal(core.Per(10, minute).WithBurst(10)))
	var zero core.Quota
	require.True(t, zero.Equal(core.Quota{}))
	for _, c := range [][2]core.Quota{
		{a, b},
		{a, a.And(b)},
		{a, a.Shadow()},
		{a, a.WithBurst(5)},
		{b, b.Using(core.FixedWindow)},
		{core.Unlimited(), core.Blocked()},
		{core.Unlimited(), {}},
		{core.PerSecond(0), core.Blocked()},
	} {
		require.False(t, c[0].Equal(c[1]), "%v, %v", c[0], c[1])
		require.False(t, c[1].Equal(c[0]), "%v, %v", c[1], c[0])
	}
}

func TestMisuseOfAQuotaIsReportedUnderItsTier(t *testing.T) {
	t.Parallel()
	five := core.PerSecond(1).And(core.PerMinute(1)).And(core.PerHour(1)).And(core.PerDay(1)).And(core.Per(1, 2*day))
	for _, c := range []struct {
		q    core.Quota
		want []string
	}{
		{core.Quota{}, []string{"no quota", "core.Unlimited()"}},
		{core.Quota{}.Shadow(), []string{"no quota"}},
		{core.PerMinute(0), []string{"quota count is 0, must be greater than 0"}},
		{core.PerMinute(-5), []string{"quota count is -5, must be greater than 0"}},
		{core.PerMinute(math.MinInt), []string{"must be greater than 0"}},
		{core.Per(10, 0), []string{"window is 0s, must be greater than 0"}},
		{core.Per(10, -sec), []string{"window is -1s, must be greater than 0"}},
		{core.Per(1, 200*365*day), []string{"a window of 1752000h0m0s, at most"}},
		{core.Per(1, math.MaxInt64), []string{"a window of", "at most"}},
		{core.Per(1, math.MaxInt64).Using(core.SlidingLog), []string{"a window of", "at most"}},
		{core.Per(1, 1), []string{"not a whole number of microseconds"}},
		{core.Per(1, 1500), []string{"not a whole number of microseconds", "2µs"}},
		{core.PerSecond(10).WithBurst(0), []string{"burst 0, must be at least 1"}},
		{core.PerSecond(10).WithBurst(-1), []string{"burst -1, must be at least 1"}},
		{core.PerDay(10).Using(core.FixedWindow).WithBurst(20), []string{"WithBurst(20) is for gcra only, not fixed_window"}},
		{core.PerDay(10).WithBurst(20).Using(core.FixedWindow), []string{"burst 20 is for gcra only, not fixed_window"}},
		{core.PerDay(10).WithBurst(20).Using(core.SlidingLog), []string{"burst 20 is for gcra only, not sliding_log"}},
		{core.PerDay(10).And(core.PerHour(5)).WithBurst(3), []string{"several windows"}},
		{core.PerDay(10).Using(7), []string{"unknown algorithm", "7"}},
		{five, []string{"5 windows, at most 4"}},
		{core.PerMinute(10).And(core.PerMinute(20)), []string{"two gcra windows of min"}},
		{core.PerDay(1).And(core.PerHour(2)).Using(core.FixedWindow).And(core.PerDay(3).Using(core.FixedWindow)), []string{"two fixed_window windows of 24h"}},
		{core.PerDay(1).And(core.PerDay(2).Using(core.FixedWindow)).Using(core.SlidingLog), []string{"two sliding_log windows of 24h"}},
		{core.Unlimited().And(core.PerDay(1)), []string{`"unlimited"`, `"1/24h"`}},
		{core.PerDay(1).And(core.Blocked()), []string{`"blocked"`}},
		{core.PerDay(1).And(core.Quota{}), []string{`"unset"`}},
		{core.Unlimited().WithBurst(5), []string{"WithBurst(5) needs a window"}},
		{core.Blocked().Using(core.FixedWindow), []string{"Using(fixed_window) needs a window"}},
		{core.PerDay(1).Shadow().And(core.PerHour(1)), []string{"Shadow"}},
		{core.PerDay(1).And(core.PerHour(1).Shadow()), []string{"Shadow"}},
		{core.Per(1, 100*365*day).WithBurst(2), []string{"burst 2", "at most 1"}},
		{core.PerDay(1).WithBurst(math.MaxInt32), []string{"burst 2147483647", "at most 52124"}},
		{core.PerSecond(0).And(core.PerSecond(20).WithBurst(0)), []string{"burst 0", "count is 0", "two gcra windows"}}, // all at once
	} {
		got := fault(c.q)
		require.Contains(t, got, `core: bad plans: tier "pro": `)
		for _, want := range c.want {
			require.Contains(t, got, want)
		}
	}
}

func TestLargestQuotasAreAccepted(t *testing.T) {
	t.Parallel()
	for _, q := range []core.Quota{
		core.PerSecond(1_000_000),
		core.PerSecond(6000),
		core.PerSecond(1_000_000).WithBurst(math.MaxInt32),
		core.Per(1, 100*365*day),
		core.Per(1, 1<<52*us),
		core.Per(math.MaxInt32, 1<<52*us).Using(core.SlidingLog),
		core.PerDay(math.MaxInt32).Using(core.FixedWindow),
		core.PerDay(1).WithBurst(52_124),
		core.Per(1, us),
	} {
		require.Empty(t, fault(q), q)
	}
}

func TestCountsBeyondWhatStoresHoldAreRefused(t *testing.T) {
	t.Parallel()
	if math.MaxInt == math.MaxInt32 {
		t.Skip("no int is that large here")
	}
	wide := int64(1)<<53 - 1 // a constant would not fit an int of 32 bits
	most := int(wide)
	require.Empty(t, fault(core.PerDay(most).Using(core.FixedWindow)))
	require.Contains(t, fault(core.PerDay(most+1).Using(core.FixedWindow)), "at most 9007199254740991")
	require.Contains(t, fault(core.PerDay(math.MaxInt)), "at most 9007199254740991")
	require.Contains(t, fault(core.PerSecond(1).WithBurst(math.MaxInt)), "at most 4503599627")
}

func TestRateThatMicrosecondsCannotHoldNamesTheNearest(t *testing.T) {
	t.Parallel()
	for count, want := range map[int]string{
		600_000:       "600000/s cannot be kept to 1 % in whole microseconds, the nearest are 500000/s and 1000000/s",
		333_333:       "333333/s cannot be kept to 1 % in whole microseconds, the nearest are 250000/s and 333334/s",
		2_000_000_000: "2000000000/s is faster than one a microsecond, at most 1000000/s",
		1_020_000:     "1020000/s is faster than one a microsecond, at most 1000000/s",
	} {
		require.Contains(t, fault(core.PerSecond(count)), want)
		require.Empty(t, fault(core.PerSecond(count).Using(core.FixedWindow)), "a counter has no T to round")
	}
	require.Contains(t, fault(core.PerDay(1).And(core.PerSecond(600_000))), "500000/s and 1000000/s", "in any window")
}

func TestNearestRatesFit(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`(?:nearest are|and|at most) (\d+)/`)
	for _, window := range []time.Duration{7 * us, 20 * us, 100 * us, ms, 10 * ms, sec} {
		most := int(window / us)
		for count := 1; count <= most+10; count += max(most/3000, 1) {
			text := fault(core.Per(count, window))
			for _, rate := range named.FindAllStringSubmatch(text, -1) {
				n, err := strconv.Atoi(rate[1])
				require.NoError(t, err)
				require.NotEqual(t, count, n, text)
				require.Empty(t, fault(core.Per(n, window)), "it was named as a rate that fits: %s", text)
			}
		}
	}
}

func TestAlgorithmNames(t *testing.T) {
	t.Parallel()
	require.Equal(t, "gcra", core.GCRA.String())
	require.Equal(t, "fixed_window", core.FixedWindow.String())
	require.Equal(t, "sliding_log", core.SlidingLog.String())
	require.Equal(t, "Algorithm(9)", core.Algorithm(9).String())
	require.Equal(t, core.GCRA, core.Limit{}.Algorithm)
}
