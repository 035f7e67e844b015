package core_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// windows are one of each algorithm, to be joined in any order.
func windows() []core.Quota {
	return []core.Quota{
		core.PerSecond(10),
		core.PerDay(1000),
		core.PerMinute(100).Using(core.FixedWindow),
		core.PerHour(500).Using(core.SlidingLog),
	}
}

func join(qs ...core.Quota) core.Quota {
	q := qs[0]
	for _, other := range qs[1:] {
		q = q.And(other)
	}
	return q
}

func TestEdgeBurstIsTwiceTheCountForAFixedWindowOnly(t *testing.T) {
	t.Parallel()
	admitted := func(q core.Quota) (n int) {
		w := newWalker(q)
		w.now = time.Date(2026, 10, 2, 13, 18, 59, 0, time.UTC)
		for range 2 {
			for range 10 {
				if w.ask(0, 1, charge).Allowed {
					n++
				}
			}
			w.now = w.now.Add(sec)
		}
		return n
	}
	require.Equal(t, 20, admitted(fixed(10)))
	require.Equal(t, 10, admitted(core.PerMinute(10)))
	require.Equal(t, 10, admitted(sliding(10)))
}

func TestCostFiveIsFiveTimesCostOne(t *testing.T) {
	t.Parallel()
	for _, q := range append(windows(), join(windows()...)) {
		t.Run(q.String(), func(t *testing.T) {
			t.Parallel()
			heavy, light := newWalker(q), newWalker(q)
			var last core.Result
			for range 5 {
				last = light.ask(0, 1, charge)
			}
			got := heavy.ask(0, 5, charge)
			require.Equal(t, last.Levels, got.Levels)
			require.Equal(t, 5, got.Charged)
			require.Equal(t, light.state.Expires(), heavy.state.Expires())
		})
	}
}

func TestCostOfAFullBucketFitsOnceAndOneMoreNever(t *testing.T) {
	t.Parallel()
	for _, q := range windows() {
		t.Run(q.String(), func(t *testing.T) {
			t.Parallel()
			w := newWalker(q)
			most := w.limits[0].Burst
			res := w.ask(0, most+1, charge)
			require.False(t, res.Allowed)
			require.Positive(t, res.Levels[0].RetryAfter)
			require.Equal(t, most, res.Levels[0].Remaining)
			require.Zero(t, res.Charged)
			require.True(t, w.state.Expires().IsZero(), "nothing is written")
			require.Zero(t, w.ask(0, most, charge).Levels[0].Remaining)
		})
	}
}

func TestFreeRequestIsAllowedOnAnEmptyBucketAndWritesNothing(t *testing.T) {
	t.Parallel()
	for _, q := range windows() {
		t.Run(q.String(), func(t *testing.T) {
			t.Parallel()
			w, same := newWalker(q), newWalker(q)
			w.spend(t, w.limits[0].Burst)
			same.spend(t, w.limits[0].Burst)
			res := w.ask(0, 0, charge)
			require.True(t, res.Allowed)
			require.Zero(t, res.Charged)
			require.Zero(t, res.Levels[0].Remaining)
			require.Zero(t, res.Levels[0].RetryAfter)
			require.Equal(t, same.state, w.state)

			fresh := newWalker(q)
			fresh.ask(0, 0, charge)
			require.Equal(t, core.State{}, fresh.state)
		})
	}
}

func TestSeveralWindowsAreChargedAllOrNone(t *testing.T) {
	t.Parallel()
	w := newWalker(core.PerSecond(10).And(core.PerDay(1000)))
	admitted := 0
	var res core.Result
	for range 31 {
		if res = w.ask(0, 1, charge); res.Allowed {
			admitted++
		}
	}
	require.Equal(t, 10, admitted)
	require.Equal(t, [core.MaxLimits]core.Level{
		{Remaining: 0, ResetAfter: sec, RetryAfter: 100 * ms},
		{Remaining: 990, ResetAfter: 864 * sec}, // it would have fitted here: nothing to wait for
	}, res.Levels)
}

func TestRefusalShowsEveryWindowAsItStands(t *testing.T) {
	t.Parallel()
	w := newWalker(core.PerMinute(10).And(fixed(4)).And(sliding(8)))
	w.spend(t, 3)
	res := w.ask(0, 6, charge)
	require.False(t, res.Allowed)
	require.Equal(t, [core.MaxLimits]core.Level{
		{Remaining: 7, ResetAfter: 18 * sec},
		{Remaining: 1, ResetAfter: 46 * sec, RetryAfter: 46 * sec},
		{Remaining: 5, ResetAfter: minute, RetryAfter: minute},
	}, res.Levels)
}

func TestForceTakesFromEachWindowWhatItHasLeft(t *testing.T) {
	t.Parallel()
	w := newWalker(core.PerMinute(10).And(fixed(4)).And(sliding(8)))
	res := w.ask(0, 6, force)
	require.True(t, res.Allowed)
	require.Equal(t, 4, res.Charged, "what every window took")
	require.Equal(t, []int{4, 0, 2}, []int{res.Levels[0].Remaining, res.Levels[1].Remaining, res.Levels[2].Remaining})
	res = w.ask(0, -2, force)
	require.Equal(t, -2, res.Charged)
	require.Equal(t, []int{6, 2, 4}, []int{res.Levels[0].Remaining, res.Levels[1].Remaining, res.Levels[2].Remaining})
}

func TestMendIsWrittenAlsoWhenAnotherWindowRefuses(t *testing.T) {
	t.Parallel()
	// The sliding second refuses; the fixed minute, used ahead of the clock, moves.
	q := core.Per(5, 10*sec).Using(core.SlidingLog).And(core.PerMinute(10).Using(core.FixedWindow))
	w := newWalker(q)
	w.now = w.now.Add(46 * sec)
	w.spend(t, 5)
	res := w.ask(-30*sec, 1, charge)
	require.False(t, res.Allowed)
	require.Equal(t, core.Level{Remaining: 0, ResetAfter: 10 * sec, RetryAfter: 10 * sec}, res.Levels[0])
	require.Equal(t, core.Level{Remaining: 5, ResetAfter: 30 * sec}, res.Levels[1])
	res = w.ask(30*sec, 1, look)
	require.Equal(t, core.Level{Remaining: 10}, res.Levels[1], "the units were moved to the window before")
	require.Equal(t, core.Level{Remaining: 5}, res.Levels[0], "the entries were moved as well")
}

func TestRefusalLeavesWindowsThatNeedNoMendAlone(t *testing.T) {
	t.Parallel()
	// One second back is jitter for the log, while the shrunk tat is mended.
	w := newWalker(core.PerHour(2).And(sliding(5)))
	w.spend(t, 2)
	w.limits[0] = core.Limit{Algorithm: core.GCRA, Count: 60, Window: hour, Burst: 1}
	res := w.ask(-sec, 1, charge)
	require.False(t, res.Allowed)
	require.Equal(t, core.Level{Remaining: 0, ResetAfter: minute, RetryAfter: minute}, res.Levels[0])
	require.Equal(t, core.Level{Remaining: 3, ResetAfter: 61 * sec}, res.Levels[1])
	res = w.ask(minute, 1, charge)
	require.True(t, res.Allowed)
	require.Equal(t, core.Level{Remaining: 2, ResetAfter: minute}, res.Levels[1])
}

func TestOrderOfTheWindowsDoesNotMatter(t *testing.T) {
	t.Parallel()
	qs := windows()
	forward := newWalker(join(qs...))
	slices.Reverse(qs)
	back := newWalker(join(qs...))
	for i := range 300 {
		mode := []core.Mode{charge, charge, look, force}[i%4]
		cost := []int{3, 1, 2, -1, 40}[i%5]
		if mode != force {
			cost = max(cost, -cost)
		}
		advance := time.Duration(i%7) * 70 * ms
		if i%50 == 0 {
			advance = -2 * sec
		}
		got, mirrored := forward.ask(advance, cost, mode), back.ask(advance, cost, mode)
		slices.Reverse(mirrored.Levels[:])
		require.Equal(t, got, mirrored, "step %d", i)
		require.Equal(t, forward.state.Expires(), back.state.Expires())
	}
}

func TestExpiresIsWhenTheLastWindowIsFullAgain(t *testing.T) {
	t.Parallel()
	require.True(t, new(core.State).Expires().IsZero())
	w := newWalker(core.PerMinute(10))
	w.spend(t, 3)
	require.Equal(t, 18*sec, w.expires())
	require.Equal(t, core.Level{Remaining: 10}, w.ask(18*sec, 0, look).Levels[0])

	w = newWalker(fixed(10))
	w.spend(t, 3)
	require.Equal(t, 46*sec, w.expires())

	w = newWalker(sliding(10))
	w.spend(t, 3)
	require.Equal(t, minute, w.expires())

	w = newWalker(core.PerMinute(10).And(fixed(10)).And(sliding(10)).And(core.PerDay(24)))
	w.spend(t, 1)
	require.Equal(t, hour, w.expires())
	w.ask(0, -1, force)
	require.Zero(t, w.expires(), "all was given back")

	w = newWalker(core.PerMinute(10))
	w.spend(t, 10)
	w.ask(-hour, 1, charge)
	require.Equal(t, minute, w.expires(), "the mend counts")
}

func TestApplyOfNoLimitsAllows(t *testing.T) {
	t.Parallel()
	var s core.State
	require.True(t, core.Apply(&s, start, core.Request{Cost: 1}).Allowed)
}

func TestOneWindowTwiceIsJudgedAsOne(t *testing.T) {
	t.Parallel()
	for _, a := range []core.Algorithm{core.GCRA, core.FixedWindow, core.SlidingLog} {
		t.Run(a.String(), func(t *testing.T) {
			t.Parallel()
			l := core.Limit{Algorithm: a, Count: 10, Window: minute, Burst: 10}
			once := &walker{now: start, limits: []core.Limit{l}}
			twice := &walker{now: start, limits: []core.Limit{l, l}}
			for i := range 30 {
				want, got := once.ask(11*sec, 3, charge), twice.ask(11*sec, 3, charge)
				require.Equal(t, want.Allowed, got.Allowed, "step %d", i)
				require.Equal(t, want.Levels[0], got.Levels[0], "step %d", i)
				require.Equal(t, want.Levels[0], got.Levels[1], "step %d", i)
			}
		})
	}
}

// Any int and any moment either fails at New or is judged right; Apply itself
// is right also for limits that New refuses.
