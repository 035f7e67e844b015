package core_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// fixed is n a minute in fixed windows; start is 46 s before one ends.
func fixed(n int) core.Quota { return core.PerMinute(n).Using(core.FixedWindow) }

func TestFixedWindowTurnsOverAtMultiplesSince1970(t *testing.T) {
	t.Parallel()
	newWalker(fixed(3)).walk(t, []step{
		{0, 0, look, true, 3, 0, 0}, // nothing is used: nothing to wait for
		{0, 1, charge, true, 2, 0, 46 * sec},
		{sec, 2, charge, true, 0, 0, 45 * sec},
		{0, 1, charge, false, 0, 45 * sec, 45 * sec},
		{45*sec - us, 1, charge, false, 0, us, us},
		{us, 1, charge, true, 2, 0, minute},
		{59 * sec, 0, look, true, 2, 0, sec},
		{sec, 0, look, true, 3, 0, 0},
	})
}

func TestFixedDayTurnsOverAtMidnight(t *testing.T) {
	t.Parallel()
	w := newWalker(core.PerDay(1).Using(core.FixedWindow))
	w.spend(t, 1)
	require.Equal(t, time.Date(2026, 10, 3, 0, 0, 0, 0, time.UTC), w.state.Expires().UTC())
}

func TestFixedWindowBefore1970(t *testing.T) {
	t.Parallel()
	w := newWalker(fixed(3))
	w.now = time.Date(1969, 12, 31, 23, 59, 50, 0, time.UTC)
	w.walk(t, []step{
		{0, 3, charge, true, 0, 0, 10 * sec},
		{0, 1, charge, false, 0, 10 * sec, 10 * sec},
		{10 * sec, 1, charge, true, 2, 0, minute},
	})
}

func TestFixedWindowCountsNoRefusal(t *testing.T) {
	t.Parallel()
	w := newWalker(fixed(5))
	w.spend(t, 3)
	for range 100 {
		require.False(t, w.ask(0, 3, charge).Allowed)
	}
	w.walk(t, []step{
		{0, 3, charge, false, 2, 46 * sec, 46 * sec},
		{0, 2, charge, true, 0, 0, 46 * sec},
	})
}

func TestFixedWindowForceAndGiveBack(t *testing.T) {
	t.Parallel()
	w := newWalker(fixed(5))
	w.walk(t, []step{{0, 3, charge, true, 2, 0, 46 * sec}})
	require.Equal(t, 2, w.ask(0, 9, force).Charged)
	require.Equal(t, 0, w.ask(0, 9, force).Charged)
	w.walk(t, []step{
		{0, -1, force, true, 1, 0, 46 * sec},
		{0, 2, charge, false, 1, 46 * sec, 46 * sec},
		{0, -100, force, true, 5, 0, 0},
		{0, 5, charge, true, 0, 0, 46 * sec},
		{46 * sec, -2, force, true, 5, 0, 0}, // a window of the past keeps its units
		{0, 6, force, true, 0, 0, minute},
	})
}

func TestFixedWindowKeepsUsedUnitsWhenTheCountChanges(t *testing.T) {
	t.Parallel()
	w := newWalker(fixed(10))
	w.spend(t, 8)
	w.limits = fixed(5).Limits()
	w.walk(t, []step{
		{0, 0, charge, true, 0, 0, 46 * sec}, // free is free
		{0, 1, charge, false, 0, 46 * sec, 46 * sec},
		{0, 9, force, true, 0, 0, 46 * sec},
		{0, -4, force, true, 1, 0, 46 * sec},
	})
	w.limits = fixed(20).Limits()
	w.walk(t, []step{{0, 16, charge, true, 0, 0, 46 * sec}})
}

func TestFixedWindowClockThatStepsBackUpToASecondStaysInTheWindow(t *testing.T) {
	t.Parallel()
	w := newWalker(fixed(3))
	w.now = time.Date(2026, 10, 2, 13, 19, 0, 0, time.UTC) // a window has just begun
	w.walk(t, []step{
		{0, 2, charge, true, 1, 0, minute},
		{-sec, 1, charge, true, 0, 0, 61 * sec},
		{0, 1, charge, false, 0, 61 * sec, 61 * sec},
		{0, -1, force, true, 1, 0, 61 * sec},
		{sec, 2, charge, false, 1, minute, minute},
	})
}

func TestFixedWindowClockThatWasSetBackMovesWhatWasUsed(t *testing.T) {
	t.Parallel()
	used := func(n int) *walker {
		w := newWalker(fixed(3))
		w.now = time.Date(2026, 10, 2, 13, 19, 0, 0, time.UTC)
		w.spend(t, n)
		return w
	}
	const back = -(sec + us)
	later := step{minute, 0, look, true, 3, 0, 0} // the later window, were it still the stored one, has units used

	t.Run("charge writes the mend", func(t *testing.T) {
		t.Parallel()
		used(2).walk(t, []step{
			{back, 1, charge, true, 0, 0, sec + us},
			{0, 1, charge, false, 0, sec + us, sec + us},
			{sec + us, 0, look, true, 3, 0, 0},
		})
	})
	t.Run("refusal writes the mend", func(t *testing.T) {
		t.Parallel()
		used(2).walk(t, []step{
			{-hour, 2, charge, false, 1, minute, minute},
			later,
			{59 * minute, 0, look, true, 3, 0, 0},
		})
	})
	t.Run("force and give-back write the mend", func(t *testing.T) {
		t.Parallel()
		used(1).walk(t, []step{
			{-hour, 0, force, true, 2, 0, minute},
			later,
			{59 * minute, 0, look, true, 3, 0, 0},
		})
		used(3).walk(t, []step{
			{-hour, -1, force, true, 1, 0, minute},
			later,
			{59 * minute, 0, look, true, 3, 0, 0},
		})
	})
	t.Run("look shows the mend and writes nothing", func(t *testing.T) {
		t.Parallel()
		w := used(2)
		w.walk(t, []step{
			{-hour, 2, look, false, 1, minute, minute},
			{0, 0, charge, true, 1, 0, minute},
			{hour, 0, look, true, 1, 0, minute},
		})
		require.Equal(t, used(2).state, w.state)
	})
	t.Run("what was moved counts once", func(t *testing.T) {
		t.Parallel()
		w := used(2)
		w.limits = fixed(10).Limits()
		w.walk(t, []step{
			{-hour, 1, charge, true, 7, 0, minute},
			{0, 1, charge, true, 6, 0, minute},
		})
	})
}
