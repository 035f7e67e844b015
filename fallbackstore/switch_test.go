package fallbackstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// TestASwitchAdmitsWhatTwoBucketsGrant: the shared bucket, which fills while it
// is away, and those of the instances, which are one more together. To the unit.
func TestASwitchAdmitsWhatTwoBucketsGrant(t *testing.T) {
	t.Parallel()
	for _, quota := range []core.Quota{
		core.PerMinute(12),
		core.PerSecond(24).WithBurst(48),
		core.PerHour(120).WithBurst(12),
		core.PerSecond(1).WithBurst(40),
		core.TokenBucket(60, 0.5),
		core.PerMinute(24).Using(core.FixedWindow),
		core.PerMinute(24).Using(core.SlidingLog),
	} {
		for _, n := range []int{1, 2, 4} {
			for _, windows := range []int{1, 3, 50} {
				name := fmt.Sprintf("%s on %d instances, %d windows", quota, n, windows)
				f := newFleet(n, quota.Limits())
				l := f.limits[0]
				own := granted(t, 1/float64(n), f.limits)
				span, away := l.Window*5/2, time.Duration(windows)*l.Window

				f.run(t, span, false)
				f.run(t, away, true)
				shared, local := f.count()
				require.Equal(t, grants(f.limits, f.asked[0]), shared, name)
				require.Equal(t, n*grants(own, f.asked[1]), local, name)
				requireLimitAndBursts(t, f, span+away, 0, name)

				f.run(t, span, false)
				shared, after := f.count()
				require.Equal(t, grants(f.limits, f.asked[0]), shared, name)
				require.Equal(t, local, after, name)
				requireLimitAndBursts(t, f, span+away+span, away, name)
			}
		}
	}
}

// requireLimitAndBursts asserts what package fallbackstore tells of a span with
// one outage in it: the limit and one burst more, and what has filled the shared
// bucket while it was away. It is not more, and with GCRA hardly less.
func requireLimitAndBursts(t *testing.T, f *fleet, span, away time.Duration, name string) {
	t.Helper()
	l := f.limits[0]
	if l.Algorithm != core.GCRA {
		require.Equal(t, 2*l.Count, f.most(), name)
		return
	}
	per := l.Emission()
	limit := l.Burst + int(span/per) + l.Burst + min(l.Burst, int(away/per))
	require.LessOrEqual(t, len(f.admitted), limit, name)
	unused := len(f.instances) + 2 + 3*int(l.Window/50/per) // the last of each, which comes at the very end
	require.GreaterOrEqual(t, len(f.admitted), limit-unused, name)
}

// TestTheOutageItselfAdmitsTheLimit and one burst: four instances have a quarter
// each, also of a rate of which a quarter is less than one unit.
func TestTheOutageItselfAdmitsTheLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		quota core.Quota
		local int
	}{
		{core.PerMinute(20), 20 + 10*20 - 4}, // the last unit of each comes at the very end
		{core.PerMinute(30).WithBurst(60), 60 + 10*28 - 4},
		{core.TokenBucket(60, 0.5), 60 + 10*30 - 4},
		{core.Per(1, 6*time.Second).WithBurst(10), 4*2 + 4*24},
		{core.PerMinute(3), 4 + 4*7},
		{core.PerMinute(3).Using(core.FixedWindow), 4 * 9}, // 80 s each, of which ten minutes touch nine
		{core.PerMinute(3).Using(core.SlidingLog), 4 * 8},
	} {
		f := newFleet(4, c.quota.Limits())
		f.run(t, 10*time.Minute, true)
		require.Len(t, f.admitted, c.local, c.quota.String())
	}
}

// TestFlappingHandsOutNoFreshBurst: for over two minutes the shared store is
// away for 2 s and back for 2 s. A fresh burst each time would be 300; there are
// two buckets, which is twice the quota.
func TestFlappingHandsOutNoFreshBurst(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 5} {
		f := newFleet(n, core.PerMinute(10).Limits())
		began := f.clock.Now()
		for range 30 {
			f.run(t, 2*time.Second, true)
			f.run(t, 2*time.Second, false)
		}
		shared, local := f.count()
		require.Equal(t, grants(f.limits, f.asked[0]), shared, "%d instances", n)
		require.Equal(t, n*grants(granted(t, 1/float64(n), f.limits), f.asked[1]), local, "%d instances", n)
		each := 10 + int(f.clock.Now().Sub(began)/(6*time.Second))
		require.LessOrEqual(t, shared, each, "%d instances", n)
		require.LessOrEqual(t, local, each, "%d instances", n)
		require.GreaterOrEqual(t, shared+local, 2*each-n-1, "%d instances", n)
	}
}

// TestWhatWasSpentLocallyIsNotPouredIntoTheSharedStore: after ten minutes of
// local limits it is full, and was not written to.
func TestWhatWasSpentLocallyIsNotPouredIntoTheSharedStore(t *testing.T) {
	t.Parallel()
	f := newFleet(2, core.PerMinute(10).Limits())
	f.run(t, time.Minute, false)
	f.run(t, 10*time.Minute, true)
	require.Equal(t, 10, f.shared.left(t, f.limits))
	f.shared.fail(nil)
	require.Equal(t, 9, charge(t, f.instances[0], f.limits, 1).Levels[0].Remaining)
	for _, r := range f.shared.requests() {
		require.Equal(t, core.Charge, r.Mode)
		require.Equal(t, 1, r.Cost)
	}
}

// TestComingBackFindsTheSharedBucketAsItIs: two seconds of absence are no reason
// for a burst, a minute has filled it.
func TestComingBackFindsTheSharedBucketAsItIs(t *testing.T) {
	t.Parallel()
	f := newFleet(2, core.PerMinute(10).Limits())
	for _, step := range []struct {
		lasts         time.Duration
		away          bool
		shared, local int // in all
	}{
		{time.Second, false, 10, 0},
		{2 * time.Second, true, 10, 10},
		{2 * time.Second, false, 10, 10},
		{2 * time.Second, true, 10, 10},
		{time.Minute, true, 10, 20},
		{time.Second, false, 20, 20},
	} {
		f.run(t, step.lasts, step.away)
		shared, local := f.count()
		require.Equal(t, []int{step.shared, step.local}, []int{shared, local}, "%+v", step)
	}
}
