package core_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

func TestTokenBucketIsTheSmallestWholeRate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rate    float64
		n       int
		seconds int64
	}{
		{0.5, 1, 2},
		{2.5, 5, 2},
		{10, 10, 1},
		{1 / 3.0, 1, 3},
		{2 / 3.0, 2, 3},
		{0.1, 1, 10},
		{0.3, 3, 10},
		{16.6, 83, 5},
		{1, 1, 1},
		{1e-6, 1, 1_000_000},
		{50_000 / 86_400.0, 125, 216},
		{1 / 86_400.0, 1, 86_400},
		{math.E, 268_876_667, 98_914_198},
		{0.5928153078464615, 77_743_109, 131_142_209},
		{1 / 3e9, 1, 3_000_000_000}, // 95 years: more seconds than 32 bits hold
	} {
		q := core.TokenBucket(7, c.rate)
		require.True(t, q.Equal(core.Per(c.n, time.Duration(c.seconds)*sec).WithBurst(7)), "%v is %v", c.rate, q)
	}
	require.Equal(t, "1/2s burst 60", core.TokenBucket(60, 0.5).String())
	require.Equal(t, "10/s burst 600", core.TokenBucket(600, 10).String())
}

func TestTokenBucketFindsTheSmallestOfAllFractions(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 60; n++ {
		for d := 1; d <= 300; d++ {
			rate := float64(n) / float64(d)
			// The first denominator that gives this very rate is the smallest.
			for seconds := 1; seconds <= d; seconds++ {
				count := int(math.Round(rate * float64(seconds)))
				if float64(count)/float64(seconds) == rate {
					require.Equal(t, core.Per(count, time.Duration(seconds)*sec).WithBurst(5), core.TokenBucket(5, rate), "%d/%d", n, d)
					break
				}
			}
		}
	}
}

func TestTokenBucketStartsFullAndRefillsSteadily(t *testing.T) {
	t.Parallel()
	newWalker(core.TokenBucket(5, 0.5)).walk(t, []step{
		{0, 5, charge, true, 0, 0, 10 * sec},
		{0, 1, charge, false, 0, 2 * sec, 10 * sec},
		{2 * sec, 1, charge, true, 0, 0, 10 * sec},
		{5 * sec, 2, charge, true, 0, 0, 9 * sec},
		{hour, 0, look, true, 5, 0, 0},
	})
}

func TestTokenBucketMisuse(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), -1, -0.5} {
		require.Contains(t, fault(core.TokenBucket(10, rate)), `tier "pro": refill of`, rate)
		require.Contains(t, fault(core.TokenBucket(10, rate)), "must be greater than 0 and finite", rate)
	}
	for _, rate := range []float64{1e-300, 1e300, 5e-324, math.MaxFloat64, 1e-10} {
		require.NotEmpty(t, fault(core.TokenBucket(10, rate)), rate)
	}
	for _, rate := range []float64{1<<53 - 1, 1<<53 - 424, 1 << 52, 1<<52 + 1, 1<<51 + 0.5} { // where a float holds no fraction any more
		within(t, func() {
			require.NotEmpty(t, fault(core.TokenBucket(10, rate)), rate)
		})
	}
	require.Contains(t, fault(core.TokenBucket(0, 1)), "burst 0, must be at least 1")
	require.Contains(t, fault(core.TokenBucket(-1, 1)), "burst -1, must be at least 1")
	require.Contains(t, fault(core.TokenBucket(10, 600_000)), "500000/s and 1000000/s")
	require.Contains(t, fault(core.TokenBucket(10, 1e12)), "s")
	require.Contains(t, fault(core.TokenBucket(10, 1e-7).WithBurst(1000)), "burst 1000")
	require.Contains(t, fault(core.TokenBucket(10, -1).And(core.PerDay(1))), "refill of -1")
}
