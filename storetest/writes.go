package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// writes proves what must leave no trace, over many questions.
func (o opener) writes(t *testing.T) {
	for _, k := range sets(5) {
		t.Run("looks/"+k.name, func(t *testing.T) { looksLeaveNoTrace(t, o.open(t), k.limits) })
		t.Run("refusals/"+k.name, func(t *testing.T) { refusalsLeaveNoTrace(t, o.open(t), k.limits) })
	}
}

func looksLeaveNoTrace(t *testing.T, s subject, limits []core.Limit) {
	t.Helper()
	key := core.Key{Tier: "pro", ID: "ana"}
	for spent := range 6 {
		for i := range 10 {
			res := s.look(t, key, limits, i)
			require.Equalf(t, 5-spent, res.Levels[0].Remaining, "a look writes nothing: %d of 5 units are spent", spent)
			require.Equalf(t, i <= 5-spent, res.Allowed, "a look judges its cost of %d with %d units left", i, 5-spent)
			require.Zero(t, res.Charged, "a look charges nothing")
		}
		if spent < 5 {
			require.True(t, s.charge(t, key, limits, 1).Allowed, "a look writes nothing: a unit is left")
		}
	}
}

// refusalsLeaveNoTrace hammers an empty bucket for the whole of the wait that
// it was told.
func refusalsLeaveNoTrace(t *testing.T, s subject, limits []core.Limit) {
	t.Helper()
	const attempts = 50
	key := core.Key{Tier: "pro", ID: "ana"}
	s.charge(t, key, limits, 5)
	told := wait(s.charge(t, key, limits, 1), len(limits))
	require.Positive(t, told, "a refusal tells how long to wait")
	gap := (told / attempts).Truncate(time.Microsecond)
	for i := range attempts - 1 {
		s.clock.Advance(gap)
		require.False(t, s.charge(t, key, limits, 3).Allowed, "3 units do not fit before 1 does")
		res := s.charge(t, key, limits, 1)
		require.False(t, res.Allowed, "a refusal tells the exact wait: this is before its end")
		left := told - time.Duration(i+1)*gap
		require.Equal(t, left, wait(res, len(limits)), "a refusal writes nothing: a client that hammers waits no longer than it was told at first")
	}
	s.clock.Advance(told - (attempts-1)*gap)
	require.True(t, s.charge(t, key, limits, 1).Allowed, "a refusal writes nothing: who waits as told is let in, hammering or not")
}

// wait is the longest RetryAfter of n levels.
func wait(res core.Result, n int) time.Duration {
	var longest time.Duration
	for _, l := range res.Levels[:n] {
		longest = max(longest, l.RetryAfter)
	}
	return longest
}
