package fallbackstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/fallbackstore"
	"github.com/tierlimit/tierlimit/memstore"
)

// fleet is n instances with a share of 1/n over one shared store, and one
// caller who asks all of them for as much as they let through.
type fleet struct {
	clock     *fakeclock.Clock
	shared    *scripted
	instances []*fallbackstore.Store
	limits    []core.Limit

	byShared, byLocal int
	first, last       time.Time // of what was answered locally
}

func newFleet(n int, limits []core.Limit) *fleet {
	clock := fakeclock.New(time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC))
	f := &fleet{clock: clock, shared: script(memstore.New(memstore.WithClock(clock))), limits: limits}
	for range n {
		f.instances = append(f.instances, fallbackstore.New(f.shared, memstore.New(memstore.WithClock(clock)),
			fallbackstore.WithShare(1/float64(n))))
	}
	return f
}

// run asks for d, 50 times a window, each time until all refuse.
func (f *fleet) run(t *testing.T, d time.Duration, away bool) {
	t.Helper()
	f.shared.fail(nil)
	if away {
		f.shared.fail(errAway)
	}
	step := f.limits[0].Window / 50
	for end := f.clock.Now().Add(d); f.clock.Now().Before(end); f.clock.Advance(step) {
		for _, s := range f.instances {
			for res := charge(t, s, f.limits, 1); ; res = charge(t, s, f.limits, 1) {
				require.Equal(t, away, res.Degraded)
				if !res.Allowed {
					break
				}
				f.count(res.Degraded)
			}
		}
		f.shared.requests()
	}
}

func (f *fleet) count(local bool) {
	if !local {
		f.byShared++
		return
	}
	f.byLocal++
	if f.first.IsZero() {
		f.first = f.clock.Now()
	}
	f.last = f.clock.Now()
}

// most is what a bucket grants in a span of time, both ends included.
func most(l core.Limit, span time.Duration) int {
	if l.Algorithm == core.FixedWindow {
		return l.Count * (int(span/l.Window) + 2)
	}
	if l.Algorithm == core.SlidingLog {
		return l.Count * (int(span/l.Window) + 1)
	}
	return l.Burst + int(span/l.Emission())
}

// TestAnOutageAdmitsOneLimitAndOneBurst: the shared bucket is one, the local
// ones together are at most another, and both only fill with time. So until the
// shared store is back it is one limit and one burst; afterwards the shared one
// has filled meanwhile, which is one burst more at most.
func TestAnOutageAdmitsOneLimitAndOneBurst(t *testing.T) {
	t.Parallel()
	for _, quota := range []core.Quota{
		core.PerMinute(12),
		core.PerSecond(24).WithBurst(48),
		core.PerHour(120).WithBurst(12),
		core.PerMinute(24).Using(core.FixedWindow),
		core.PerMinute(24).Using(core.SlidingLog),
	} {
		for _, n := range []int{1, 2, 4} {
			for _, windows := range []int{1, 3} {
				name := fmt.Sprintf("%s on %d instances, %d windows", quota, n, windows)
				f := newFleet(n, quota.Limits())
				l := f.limits[0]
				before, away := 2*l.Window, time.Duration(windows)*l.Window
				f.run(t, before, false)
				f.run(t, away, true)
				require.LessOrEqual(t, f.byShared, most(l, before), name)
				require.LessOrEqual(t, f.byLocal, most(l, away), name)
				require.GreaterOrEqual(t, f.byLocal, most(l, away-l.Window)*3/4, "%s: and it serves on", name)
				if l.Algorithm == core.GCRA {
					require.LessOrEqual(t, f.byShared+f.byLocal, most(l, before+away)+l.Burst, name)
				}

				local := f.byLocal
				f.run(t, before, false)
				require.Equal(t, local, f.byLocal, name)
				require.LessOrEqual(t, f.byShared, most(l, before+away+before), name)
				if l.Algorithm == core.GCRA {
					filled := min(l.Burst, int(away/l.Emission()))
					require.LessOrEqual(t, f.byShared+f.byLocal, most(l, before+away+before)+l.Burst+filled+1, name)
				}
			}
		}
	}
}

// TestTheOutageItselfAdmitsTheLimit: with a quarter each, four instances admit
// in it what the tier allows.
func TestTheOutageItselfAdmitsTheLimit(t *testing.T) {
	t.Parallel()
	f := newFleet(4, core.PerMinute(20).Limits())
	f.run(t, 10*time.Minute, true)
	require.Equal(t, 20+10*20-4, f.byLocal, "the last unit of each comes at the very end")

	f = newFleet(4, core.PerMinute(3).Limits())
	f.run(t, time.Second, true)
	require.Equal(t, 4, f.byLocal, "at least 1 each")
}

// TestFlappingHandsOutNoFreshBurst: for over two minutes the shared store is
// away for 2 s and back for 2 s. A fresh burst each time would be 300.
func TestFlappingHandsOutNoFreshBurst(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 5} {
		f := newFleet(n, core.PerMinute(10).Limits())
		began := f.clock.Now()
		for range 30 {
			f.run(t, 2*time.Second, true)
			f.run(t, 2*time.Second, false)
		}
		require.LessOrEqual(t, f.byLocal, most(f.limits[0], f.last.Sub(f.first)), "%d instances", n)
		require.LessOrEqual(t, f.byShared, most(f.limits[0], f.clock.Now().Sub(began)), "%d instances", n)
		require.Less(t, f.byLocal+f.byShared, 70, "%d instances: twice the quota", n)
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

// TestComingBackFindsTheSharedBucketAsItIs: two seconds of absence are no
// reason for a burst.
func TestComingBackFindsTheSharedBucketAsItIs(t *testing.T) {
	t.Parallel()
	f := newFleet(2, core.PerMinute(10).Limits())
	f.run(t, time.Second, false)
	require.Equal(t, 10, f.byShared)
	f.run(t, 2*time.Second, true)
	require.Equal(t, 10, f.byLocal)
	f.run(t, 2*time.Second, false)
	require.Equal(t, 10, f.byShared)
	f.run(t, 2*time.Second, true)
	require.Equal(t, 10, f.byLocal, "nor is the next one")
}
