package core_test

import (
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// sliding is n a minute by a sliding log.
func sliding(n int) core.Quota { return core.PerMinute(n).Using(core.SlidingLog) }

func TestSlidingLogEntryLeavesAfterExactlyOneWindow(t *testing.T) {
	t.Parallel()
	newWalker(sliding(3)).walk(t, []step{
		{0, 0, look, true, 3, 0, 0},
		{0, 1, charge, true, 2, 0, minute},
		{10 * sec, 1, charge, true, 1, 0, minute},
		{10 * sec, 1, charge, true, 0, 0, minute},
		{0, 1, charge, false, 0, 40 * sec, minute},
		{40*sec - us, 1, charge, false, 0, us, 20*sec + us},
		{us, 1, charge, true, 0, 0, minute},
		{0, 1, charge, false, 0, 10 * sec, minute},
		{minute - us, 0, look, true, 2, 0, us},
		{us, 0, look, true, 3, 0, 0},
	})
}

func TestSlidingLogWaitsForAsManyOfTheOldestAsTheCostNeeds(t *testing.T) {
	t.Parallel()
	newWalker(sliding(10)).walk(t, []step{
		{0, 4, charge, true, 6, 0, minute},
		{10 * sec, 3, charge, true, 3, 0, minute},
		{10 * sec, 2, charge, true, 1, 0, minute},
		{0, 1, look, true, 1, 0, minute},
		{0, 2, look, false, 1, 40 * sec, minute},
		{0, 5, look, false, 1, 40 * sec, minute},
		{0, 6, look, false, 1, 50 * sec, minute},
		{0, 8, look, false, 1, 50 * sec, minute},
		{0, 9, look, false, 1, minute, minute},
		{0, 10, look, false, 1, minute, minute},
	})
}

func TestSlidingLogLogsNoRefusal(t *testing.T) {
	t.Parallel()
	w := newWalker(sliding(2))
	w.spend(t, 2)
	for range 100 {
		require.False(t, w.ask(0, 1, charge).Allowed)
	}
	w.walk(t, []step{{minute, 2, charge, true, 0, 0, minute}})
}

func TestSlidingLogForceAndGiveBackTheNewestFirst(t *testing.T) {
	t.Parallel()
	w := newWalker(sliding(10))
	w.walk(t, []step{
		{0, 4, charge, true, 6, 0, minute},
		{10 * sec, 3, charge, true, 3, 0, minute},
	})
	require.Equal(t, 3, w.ask(10*sec, 100, force).Charged)
	require.Equal(t, 0, w.ask(0, 100, force).Charged)
	w.walk(t, []step{
		{0, 0, look, true, 0, 0, minute},
		{0, -1, force, true, 1, 0, minute},         // part of the newest entry
		{0, -3, force, true, 4, 0, 50 * sec},       // the rest of it and part of the one before
		{0, 5, look, false, 4, 40 * sec, 50 * sec}, // the oldest are still there
		{0, -100, force, true, 10, 0, 0},
		{0, 10, charge, true, 0, 0, minute},
	})
}

func TestSlidingLogKeepsUsedUnitsWhenTheCountChanges(t *testing.T) {
	t.Parallel()
	w := newWalker(sliding(10))
	w.spend(t, 4)
	w.ask(10*sec, 4, charge)
	w.limits = sliding(5).Limits()
	w.walk(t, []step{
		{0, 0, charge, true, 0, 0, minute},         // free is free
		{0, 1, charge, false, 0, 50 * sec, minute}, // 8 used of 5: the oldest 4 have to leave
		{0, 2, look, false, 0, minute, minute},
		{0, 1, force, true, 0, 0, minute},
	})
	w.limits = sliding(9).Limits()
	w.walk(t, []step{{0, 1, charge, true, 0, 0, minute}})
}

func TestSlidingLogClockThatStepsBackUpToASecondKeepsEveryTime(t *testing.T) {
	t.Parallel()
	newWalker(sliding(3)).walk(t, []step{
		{0, 1, charge, true, 2, 0, minute},
		{-sec, 1, charge, true, 1, 0, 61 * sec}, // logged with the one that is there, not before it
		{0, 2, charge, false, 1, 61 * sec, 61 * sec},
		{61*sec - us, 2, charge, false, 1, us, us},
		{us, 3, charge, true, 0, 0, minute},
	})
}

func TestSlidingLogClockThatWasSetBackMakesEveryEntryAheadOneOfNow(t *testing.T) {
	t.Parallel()
	used := func() *walker {
		w := newWalker(sliding(5))
		w.spend(t, 1)
		w.ask(10*sec, 1, charge)
		w.ask(10*sec, 1, charge)
		return w
	}
	t.Run("an entry a little ahead is mended with the one far ahead", func(t *testing.T) {
		t.Parallel()
		// 10.5 s back, the second entry is half a second ahead, the third 10.5 s.
		used().walk(t, []step{
			{-10_500 * ms, 5, charge, false, 2, minute, minute},
			{50*sec + 500*ms, 3, charge, true, 0, 0, minute}, // the first left after its own minute
			{0, 1, charge, false, 0, 9*sec + 500*ms, minute},
			{9*sec + 500*ms, 2, charge, true, 0, 0, minute},
		})
	})
	t.Run("charge", func(t *testing.T) {
		t.Parallel()
		used().walk(t, []step{
			{-hour, 1, charge, true, 1, 0, minute},
			{minute, 5, charge, true, 0, 0, minute},
		})
	})
	t.Run("force and give-back", func(t *testing.T) {
		t.Parallel()
		used().walk(t, []step{
			{-hour, 0, force, true, 2, 0, minute},
			{minute, 0, look, true, 5, 0, 0},
		})
		used().walk(t, []step{
			{-hour, -2, force, true, 4, 0, minute},
			{minute, 0, look, true, 5, 0, 0},
		})
	})
	t.Run("refusal", func(t *testing.T) {
		t.Parallel()
		used().walk(t, []step{
			{-hour, 3, charge, false, 2, minute, minute},
			{minute, 3, charge, true, 2, 0, minute},
		})
	})
	t.Run("look shows the mend and writes nothing", func(t *testing.T) {
		t.Parallel()
		w := used()
		w.walk(t, []step{
			{-hour, 3, look, false, 2, minute, minute},
			{0, 0, charge, true, 2, 0, minute},
			{hour, 0, look, true, 2, 0, minute},
		})
		require.Equal(t, used().state, w.state)
	})
}

func TestSlidingLogJudgesALargeLogWithoutAllocating(t *testing.T) {
	w := newWalker(sliding(100_000))
	for range 100_000 {
		require.True(t, w.ask(100*us, 1, charge).Allowed)
	}
	r := core.Request{Limits: w.limits, Cost: 1}
	require.Zero(t, testing.AllocsPerRun(1000, func() { core.Apply(&w.state, w.now, r) }), "a refusal")
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		w.now = w.now.Add(minute)
		core.Apply(&w.state, w.now, r)
	}), "a charge")
}

func TestSlidingLogMergesWhatIsSpentAtOnce(t *testing.T) {
	w := newWalker(core.Per(1_000_000, minute).Using(core.SlidingLog))
	w.spend(t, 1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100_000 {
		w.ask(0, 1, charge)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
	w.walk(t, []step{{0, 899_999, charge, true, 0, 0, minute}})
}

func TestSlidingLogNeverWrapsHoweverMuchIsSpentInAll(t *testing.T) {
	t.Parallel()
	half := int(min(int64(1)<<52, int64(math.MaxInt/4)))
	w := newWalker(core.Per(2*half-1, sec).Using(core.SlidingLog))
	w.spend(t, half-1)
	for range 5000 { // it is never empty meanwhile, and 2^64 units pass through
		w.walk(t, []step{
			{600 * ms, half, charge, true, 0, 0, sec},
			{0, -1, force, true, 1, 0, sec},
			{0, half, charge, false, 1, 400 * ms, sec},
			{0, 1, charge, true, 0, 0, sec},
			{400*ms - us, 1, charge, false, 0, us, 600*ms + us},
			{us, half - 1, charge, true, 0, 0, sec},
			{0, 1, charge, false, 0, 600 * ms, sec},
			{600 * ms, half, charge, true, 0, 0, sec},
			{0, 0, look, true, 0, 0, sec},
			{400 * ms, half - 1, charge, true, 0, 0, sec},
		})
	}
}
