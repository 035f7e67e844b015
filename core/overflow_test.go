package core_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

func TestZeroLimitAdmitsNothing(t *testing.T) {
	t.Parallel()
	for _, a := range []core.Algorithm{core.GCRA, core.FixedWindow, core.SlidingLog} {
		var s core.State
		res := core.Apply(&s, start, core.Request{Limits: []core.Limit{{Algorithm: a}}, Cost: 1})
		require.False(t, res.Allowed, a)
		require.Positive(t, res.Levels[0].RetryAfter, a)
	}
}

func TestArithmeticNeverWraps(t *testing.T) {
	t.Parallel()
	counts := []int{math.MinInt, -1, 0, 1, 2, 1_000_000, math.MaxInt - 1, math.MaxInt}
	spans := []time.Duration{math.MinInt64, -1, 0, 1, us, sec, day, 366 * day, 36_500 * day, math.MaxInt64}
	costs := []int{math.MinInt, -200_000_000, -1, 0, 1, 2, 200_000_000, math.MaxInt - 1, math.MaxInt}
	moments := []time.Time{{}, time.Unix(0, 0), start, time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)}
	for _, a := range []core.Algorithm{core.GCRA, core.FixedWindow, core.SlidingLog} {
		for _, count := range counts {
			for _, burst := range counts {
				for _, span := range spans {
					l := core.Limit{Algorithm: a, Count: count, Window: span, Burst: burst}
					checkNeverWraps(t, []core.Limit{l}, costs, moments)
				}
			}
		}
	}
}

func capacityOf(l core.Limit) int {
	if l.Algorithm == core.GCRA {
		return max(l.Burst, 0)
	}
	return max(l.Count, 0)
}

func checkNeverWraps(t *testing.T, limits []core.Limit, costs []int, moments []time.Time) {
	t.Helper()
	var s core.State
	for _, now := range moments {
		for _, cost := range costs {
			for _, mode := range []core.Mode{look, charge, force, charge} {
				res := core.Apply(&s, now, core.Request{Limits: limits, Cost: cost, Mode: mode})
				where := func() string { return fmt.Sprintf("%+v at %v, cost %d, mode %d: %+v", limits, now, cost, mode, res) }
				for i, l := range limits {
					level := res.Levels[i]
					if level.Remaining < 0 || level.ResetAfter < 0 || level.RetryAfter < 0 || level.Remaining > capacityOf(l) {
						require.Fail(t, "a level out of bounds", where())
					}
					if mode != force && cost > capacityOf(l) && (res.Allowed || level.RetryAfter == 0) {
						require.Fail(t, "a cost beyond the capacity passed", where())
					}
				}
				if mode == charge && cost > 0 && res.Allowed != (res.Charged == cost) {
					require.Fail(t, "charged is wrong", where())
				}
				if mode == force && cost > 0 && (res.Charged < 0 || res.Charged > cost) {
					require.Fail(t, "charged is wrong", where())
				}
			}
		}
	}
}
