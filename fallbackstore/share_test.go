package fallbackstore_test

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fallbackstore"
	"github.com/tierlimit/tierlimit/memstore"
)

// granted is what an instance grants locally of limits.
func granted(t *testing.T, share float64, limits []core.Limit) []core.Limit {
	t.Helper()
	var own []core.Limit
	local := taker(func(_ context.Context, r core.Request) (core.Result, error) {
		own = r.Limits
		return core.Result{}, nil
	})
	take(t, fallbackstore.New(broken{}, local, fallbackstore.WithShare(share)), core.Request{Key: ana, Limits: limits})
	return own
}

func TestAShareIsAPartOfEachWindowsCountAndBurst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		share      float64
		quota, own string
	}{
		{1, "10/min", "10/min"},
		{0.5, "10/min", "5/min"},
		{0.5, "11/min", "5/min"},                // down
		{1.0 / 3, "10/min", "3/min"},            //
		{1.0 / 3, "9/min", "3/min"},             // though a third is less than a third
		{1.0 / 49, "98/min", "2/min"},           // as above
		{0.07, "100/min", "7/min"},              // 7.000000000000001
		{0.29, "100/min", "29/min"},             // 28.999999999999996
		{0.25, "4/min", "1/min"},                //
		{0.25, "3/min", "1/80s"},                // less than one a minute
		{1.0 / 3, "1/s", "1/3s"},                // though a third is less than a third
		{1.0 / 7, "3/min", "1/140s"},            // as above
		{1.0 / 49, "5/h", "1/35280s"},           // as above
		{0.3, "1/s", "1/3333334us"},             // up
		{1e-3, "7/day", "1/12342857142858us"},   // up
		{0.5, "20/s burst 40", "10/s burst 20"}, //
		{0.5, "20/s burst 1", "10/s burst 1"},   //
		{0.25, "1/s burst 40", "1/4s burst 10"}, //
		{0.25, "30/min burst 2", "7/min burst 1"},
		{1.0 / 3, "500000/s", "1/6us burst 166666"}, // 166666/s would be 7 us a unit
		{0.5, "100/h burst 21", "50/h burst 10"},    //
		{1.0 / 3, "5/10s sliding", "1/10s sliding"},
		{1.0 / 3, "1000/day fixed", "333/day fixed"},
		{0.25, "2/min fixed", "1/2m fixed"},
		{0.25, "1/min sliding", "1/4m sliding"},
		{1.0 / 148, "109/1125899906842624us fixed", "1/1528744827639527us fixed"}, // up by one
		{0.25, "1/min and 4/4m", "1/4m and 1/240000001us"},                        // two windows are no one window
		{0.25, "1/250ms and 500000/s", "1/s and 1/8us burst 125000"},              // nor is 125000/1000001us, 9 us a unit
		{0.5, "20/s burst 40 and 50000/day", "10/s burst 20 and 25000/day"},
		{
			0.25, "10/s and 8/min sliding and 3/h fixed and 1000/day",
			"2/s and 2/min sliding and 1/80m fixed and 250/day",
		},
	} {
		quota, err := core.ParseQuota(c.quota)
		require.NoError(t, err)
		own, err := core.ParseQuota(c.own)
		require.NoError(t, err)
		require.Equal(t, own.Limits(), granted(t, c.share, quota.Limits()), "%v of %s", c.share, c.quota)
	}
}

// TestNInstancesTogetherGrantAllOfIt: n times a share of 1/n of n times m is
// exactly n times m, and of anything else not more than that.
func TestNInstancesTogetherGrantAllOfIt(t *testing.T) {
	t.Parallel()
	limit := core.Limit{Algorithm: core.FixedWindow}
	for n := 2; n <= 200; n++ {
		share := 1 / float64(n)
		var limits [core.MaxLimits]core.Limit
		for _, m := range []int{1, 2, 3, 7, 10, 1000, 999_999, 50_000_000, 1_000_000_007, math.MaxInt >> 23} {
			if int64(m) > min(math.MaxInt, 1<<53)/int64(n+1) {
				continue
			}
			for i, count := range []int{n * m, n*m + 1, n*m + n - 1, n*m - 1} {
				limit.Count, limit.Burst = count, count
				limit.Window = time.Minute + time.Duration(i)*time.Second
				limits[i] = limit
			}
			got := granted(t, share, limits[:])
			for i, want := range []int{m, m, m, max((n*m-1)/n, 1)} {
				require.Equal(t, want, got[i].Count, "1/%d of %d", n, limits[i].Count)
				require.Equal(t, want, got[i].Burst, "1/%d of %d", n, limits[i].Count)
				if n*m-1 >= n {
					require.Equal(t, limits[i].Window, got[i].Window)
				}
			}
		}
	}
}

func TestTheCallersLimitsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	limits := core.PerSecond(20).WithBurst(40).And(core.PerDay(50_000)).Limits()
	was := append([]core.Limit(nil), limits...)
	for range 2 { // worked out, and known
		own := granted(t, 0.5, limits)
		require.Equal(t, was, limits)
		for i := range own {
			require.Equal(t, limits[i].Algorithm, own[i].Algorithm)
		}
	}
	require.Equal(t, limits, granted(t, 1, limits))
}

// TestTheTierDecides: there is no number for all.
func TestTheTierDecides(t *testing.T) {
	t.Parallel()
	p := newPair(fallbackstore.WithShare(0.25))
	p.primary.fail(errAway)
	for _, want := range []int{1, 2, 5, 25} {
		limits := core.PerMinute(4 * want).Limits()
		key := core.Key{Tier: fmt.Sprint("of ", want), ID: "ana"}
		admitted := 0
		for range 200 {
			if take(t, p, core.Request{Key: key, Limits: limits, Cost: 1}).Allowed {
				admitted++
			}
		}
		require.Equal(t, want, admitted)
	}
}

// TestPlansThatChangeAllTheTimeTakeNoMemory: what a share is of limits is kept
// for the first few thousand of them.
func TestPlansThatChangeAllTheTimeTakeNoMemory(t *testing.T) {
	t.Parallel()
	const keys = 1000
	local := memstore.New(memstore.WithMaxKeys(keys))
	primary := script(memstore.New())
	primary.fail(errAway)
	s := fallbackstore.New(primary, local, fallbackstore.WithShare(0.5))
	for i := range 20_000 {
		limits := core.PerHour(10 + i).Limits()
		res := take(t, s, core.Request{Key: core.Key{ID: strconv.Itoa(i)}, Limits: limits, Cost: 1})
		require.Equal(t, (10+i)/2-1, res.Levels[0].Remaining)
		require.LessOrEqual(t, local.Len(), keys, "and the local store is bounded by itself")
		primary.requests()
	}
	require.LessOrEqual(t, s.KnownShares(), fallbackstore.MostKnownShares)
}

func TestAShareThatMakesNoSensePanics(t *testing.T) {
	t.Parallel()
	for _, share := range []float64{0, -0.5, 1.0001, math.Inf(1), math.NaN()} {
		require.Panics(t, func() { fallbackstore.WithShare(share) }, "%v", share)
	}
}
