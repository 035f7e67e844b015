package core_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

func TestTenAMinuteLetsTenThroughAndThenOneEverySixSeconds(t *testing.T) {
	t.Parallel()
	newWalker(core.PerMinute(10)).walk(t, []step{
		{0, 1, charge, true, 9, 0, 6 * sec},
		{0, 1, charge, true, 8, 0, 12 * sec},
		{0, 1, charge, true, 7, 0, 18 * sec},
		{0, 1, charge, true, 6, 0, 24 * sec},
		{0, 1, charge, true, 5, 0, 30 * sec},
		{0, 1, charge, true, 4, 0, 36 * sec},
		{0, 1, charge, true, 3, 0, 42 * sec},
		{0, 1, charge, true, 2, 0, 48 * sec},
		{0, 1, charge, true, 1, 0, 54 * sec},
		{0, 1, charge, true, 0, 0, minute},
		{0, 1, charge, false, 0, 6 * sec, minute},
		{6 * sec, 1, charge, true, 0, 0, minute},
		{0, 1, charge, false, 0, 6 * sec, minute},
		{30 * sec, 1, charge, true, 4, 0, 36 * sec},
		{0, 1, charge, true, 3, 0, 42 * sec},
		{0, 1, charge, true, 2, 0, 48 * sec},
		{0, 1, charge, true, 1, 0, 54 * sec},
		{0, 1, charge, true, 0, 0, minute},
		{0, 1, charge, false, 0, 6 * sec, minute},
	})
}

func TestGCRAAdmitsAtTheVeryMicrosecondThatItNamed(t *testing.T) {
	t.Parallel()
	newWalker(core.PerMinute(10)).walk(t, []step{
		{0, 10, charge, true, 0, 0, minute},
		{6*sec - us, 1, charge, false, 0, us, 54*sec + us},
		{us, 1, charge, true, 0, 0, minute},
	})
}

func TestGCRARoundsOneUnitUpToWholeMicroseconds(t *testing.T) {
	t.Parallel()
	newWalker(core.PerSecond(7)).walk(t, []step{
		{0, 1, charge, true, 6, 0, 142_858 * us},
		{0, 6, charge, true, 0, 0, 1_000_006 * us},
		{0, 1, charge, false, 0, 142_858 * us, 1_000_006 * us},
		{142_857 * us, 1, charge, false, 0, us, 857_149 * us},
		{us, 1, charge, true, 0, 0, 1_000_006 * us},
	})
}

func TestGCRABurstIsApartFromTheRate(t *testing.T) {
	t.Parallel()
	newWalker(core.PerSecond(20).WithBurst(40)).walk(t, []step{
		{0, 40, charge, true, 0, 0, 2 * sec},
		{0, 1, charge, false, 0, 50 * ms, 2 * sec},
		{sec, 20, charge, true, 0, 0, 2 * sec},
	})
	newWalker(core.PerMinute(10).WithBurst(1)).walk(t, []step{
		{0, 1, charge, true, 0, 0, 6 * sec},
		{sec, 1, charge, false, 0, 5 * sec, 5 * sec},
		{5 * sec, 1, charge, true, 0, 0, 6 * sec},
	})
}

func TestGCRARefusalTellsWhatIsReallyLeft(t *testing.T) {
	t.Parallel()
	newWalker(core.PerMinute(10)).walk(t, []step{
		{0, 7, charge, true, 3, 0, 42 * sec},
		{0, 5, charge, false, 3, 12 * sec, 42 * sec}, // a heavy one does not fit
		{0, 3, charge, true, 0, 0, minute},           // and keeps no light one out
	})
}

func TestGCRAFractionOfAUnitIsNotShown(t *testing.T) {
	t.Parallel()
	newWalker(core.PerMinute(10)).walk(t, []step{
		{0, 2, charge, true, 8, 0, 12 * sec},
		{3 * sec, 0, look, true, 8, 0, 9 * sec},
		{3 * sec, 0, look, true, 9, 0, 6 * sec},
		{6 * sec, 0, look, true, 10, 0, 0},
		{hour, 0, look, true, 10, 0, 0},
	})
}

func TestGCRAForceTakesWhatIsLeft(t *testing.T) {
	t.Parallel()
	w := newWalker(core.PerMinute(10))
	w.walk(t, []step{{0, 7, charge, true, 3, 0, 42 * sec}})
	require.Equal(t, 2, w.ask(0, 2, force).Charged)
	require.Equal(t, 1, w.ask(3*sec, 5, force).Charged, "one whole unit and a half are left")
	w.walk(t, []step{
		{0, 0, look, true, 0, 0, minute}, // the half is gone as well
		{0, 100, force, true, 0, 0, minute},
		{6 * sec, 1, charge, true, 0, 0, minute},
	})
	require.Zero(t, w.ask(0, 3, force).Charged)
}

func TestGCRAGiveBackIsNeverBeyondFull(t *testing.T) {
	t.Parallel()
	w := newWalker(core.PerMinute(10))
	w.walk(t, []step{
		{0, 10, charge, true, 0, 0, minute},
		{0, -1, force, true, 1, 0, 54 * sec}, // also on an empty bucket
		{0, 1, charge, true, 0, 0, minute},
		{0, -9, force, true, 9, 0, 6 * sec},
		{3 * sec, -1, force, true, 10, 0, 0},
		{0, -100, force, true, 10, 0, 0},
		{0, 10, charge, true, 0, 0, minute},
		{0, 1, charge, false, 0, 6 * sec, minute},
	})
	require.Equal(t, -3, w.ask(0, -3, force).Charged)
	require.Equal(t, -3, newWalker(core.PerMinute(10)).ask(0, -3, force).Charged, "a fresh bucket has nothing to take back")
}

func TestGCRAClockThatStepsBackUpToASecondChangesNothing(t *testing.T) {
	t.Parallel()
	newWalker(core.PerMinute(10)).walk(t, []step{
		{0, 10, charge, true, 0, 0, minute},
		{-sec, 1, charge, false, 0, 7 * sec, 61 * sec},
		{0, 1, look, false, 0, 7 * sec, 61 * sec},
		{0, 0, charge, true, 0, 0, 61 * sec},
		{0, 3, force, true, 0, 0, 61 * sec}, // nothing fits, nothing is lost
		{0, -1, force, true, 0, 0, 55 * sec},
		{0, 1, charge, false, 0, sec, 55 * sec},
		{sec, 1, charge, true, 0, 0, minute},
	})
}

func TestGCRAClockThatWasSetBackLeavesAnEmptyBucket(t *testing.T) {
	t.Parallel()
	spent := func() *walker {
		w := newWalker(core.PerMinute(10))
		w.spend(t, 10)
		return w
	}
	const back = -(sec + us)
	t.Run("refusal writes the mend", func(t *testing.T) {
		t.Parallel()
		spent().walk(t, []step{
			{back, 1, charge, false, 0, 6 * sec, minute},
			{6*sec - us, 1, charge, false, 0, us, 54*sec + us},
			{us, 1, charge, true, 0, 0, minute},
		})
		spent().walk(t, []step{
			{-hour, 1, charge, false, 0, 6 * sec, minute},
			{6 * sec, 1, charge, true, 0, 0, minute},
		})
	})
	t.Run("force writes the mend", func(t *testing.T) {
		t.Parallel()
		for _, cost := range []int{0, 5} {
			w := spent()
			require.Zero(t, w.ask(-hour, cost, force).Charged)
			w.walk(t, []step{{6 * sec, 1, charge, true, 0, 0, minute}})
		}
	})
	t.Run("give-back starts from the mend", func(t *testing.T) {
		t.Parallel()
		spent().walk(t, []step{
			{-hour, -2, force, true, 2, 0, 48 * sec},
			{0, 2, charge, true, 0, 0, minute},
		})
	})
	t.Run("look shows the mend and writes nothing", func(t *testing.T) {
		t.Parallel()
		w := spent()
		w.walk(t, []step{
			{-hour, 1, look, false, 0, 6 * sec, minute},
			{6 * sec, 1, look, false, 0, 6 * sec, minute}, // it was not written
			{0, 0, charge, true, 0, 0, minute},            // a free charge writes nothing either
		})
		require.Equal(t, spent().state, w.state)
	})
}

func TestGCRAQuotaThatShrankLeavesAnEmptyBucket(t *testing.T) {
	t.Parallel()
	w := newWalker(core.PerDay(100))
	w.spend(t, 100)
	w.limits = core.PerMinute(10).Limits()
	w.walk(t, []step{
		{0, 1, charge, false, 0, 6 * sec, minute},
		{6 * sec, 1, charge, true, 0, 0, minute},
	})
}

func TestLoneGCRAWindowKeepsItsDebtInTimeWhenItsLengthChanges(t *testing.T) {
	t.Parallel()
	w := newWalker(core.PerMinute(10))
	w.spend(t, 5)
	w.limits = core.PerHour(60).WithBurst(10).Limits()
	w.walk(t, []step{{0, 0, look, true, 9, 0, 30 * sec}})
	w.limits = core.PerSecond(1).WithBurst(60).Limits()
	w.walk(t, []step{{0, 1, charge, true, 29, 0, 31 * sec}})
}

func TestGCRARefusedCallsDoNotDelayTheNextOne(t *testing.T) {
	t.Parallel()
	w := newWalker(core.PerSecond(1))
	w.spend(t, 1)
	quiet := newWalker(core.PerSecond(1))
	quiet.spend(t, 1)
	for range 9_999 {
		require.False(t, w.ask(90*us, 1, charge).Allowed)
	}
	require.Equal(t, quiet.state, w.state)
	w.now = start.Add(sec - us)
	require.False(t, w.ask(0, 1_000_000, charge).Allowed)
	require.True(t, w.ask(us, 1, charge).Allowed)
}

func TestGCRAAdmitsTheBurstAndWhatComesBack(t *testing.T) {
	t.Parallel()
	admitted := func(q core.Quota) (n int) {
		w := newWalker(q)
		for range 30 {
			for range 2 {
				if w.ask(0, 1, charge).Allowed {
					n++
				}
			}
			w.now = w.now.Add(sec)
		}
		return n
	}
	n := admitted(core.Per(17, 30*sec))
	require.GreaterOrEqual(t, n, 32)
	require.LessOrEqual(t, n, 34)
	require.LessOrEqual(t, admitted(core.Per(17, 30*sec).WithBurst(1)), 18)
}

func TestGCRAKeepsHighRates(t *testing.T) {
	t.Parallel()
	w := newWalker(core.PerSecond(6000))
	require.Equal(t, 5999, w.ask(0, 1, charge).Levels[0].Remaining)
	require.Positive(t, w.expires())
	n := 1
	for range 20_000 {
		if w.ask(us, 1, charge).Allowed {
			n++
		}
	}
	require.LessOrEqual(t, n, 6000+20_000/166)
	require.GreaterOrEqual(t, n, 6000+20_000/167)

	newWalker(core.PerSecond(1_000_000).WithBurst(1)).walk(t, []step{
		{0, 1, charge, true, 0, 0, us},
		{0, 1, charge, false, 0, us, us},
		{us, 1, charge, true, 0, 0, us},
	})
}

func TestGCRAWindowOfACentury(t *testing.T) {
	t.Parallel()
	const century = 100 * 365 * day
	newWalker(core.Per(1, century)).walk(t, []step{
		{0, 1, charge, true, 0, 0, century},
		{day, 1, charge, false, 0, century - day, century - day},
		{century - day, 1, charge, true, 0, 0, century},
	})
	require.Equal(t, time.Duration(0), core.Apply(&core.State{}, start, core.Request{Limits: core.Per(1, century).Limits(), Mode: look}).Levels[0].ResetAfter)
}
