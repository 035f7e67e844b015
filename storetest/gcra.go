package storetest

import (
	"math"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

const (
	us  = time.Microsecond
	ms  = time.Millisecond
	sec = time.Second
)

// gcraTables tell of a single GCRA window. With 10 a minute a unit comes back
// every 6 s and a full bucket is 60 s.
func gcraTables() []table {
	ten := list(gcra(10, time.Minute))
	return []table{
		{
			name: "burst_then_one_every_T", limits: ten,
			wants: "a charge fits when tat + T × cost − tau ≤ now, to the microsecond",
			steps: []step{
				{do: charge(9), want: ok(1, 54*sec)},
				{do: charge(1), want: ok(0, 60*sec)},
				{do: charge(1), want: no(0, 60*sec, 6*sec)},
				{after: 6*sec - us, do: charge(1), want: no(0, 54*sec+us, us)},
				{after: us, do: charge(1), want: ok(0, 60*sec)},
				{after: 30 * sec, do: charge(1), want: ok(4, 36*sec)},
			},
		},
		{
			name: "idle", limits: ten,
			wants: "an idle caller saves up no more than the burst",
			steps: []step{
				{do: charge(10), want: ok(0, 60*sec)},
				{after: time.Hour, do: look(10), want: ok(10, 0)},
				{do: charge(10), want: ok(0, 60*sec)},
				{do: charge(1), want: no(0, 60*sec, 6*sec)},
			},
		},
		{
			name: "burst_above_count", limits: list(burst(20, sec, 40)),
			wants: "tau = T × burst",
			steps: []step{
				{do: charge(40), want: ok(0, 2*sec)},
				{do: charge(1), want: no(0, 2*sec, 50*ms)},
				{after: 50 * ms, do: charge(1), want: ok(0, 2*sec)},
				{after: sec, do: look(20), want: ok(20, sec)},
			},
		},
		{
			name: "burst_below_count", limits: list(burst(60, time.Minute, 1)),
			wants: "tau = T × burst",
			steps: []step{
				{do: charge(1), want: ok(0, sec)},
				{do: charge(1), want: no(0, sec, sec)},
				{after: sec, do: charge(1), want: ok(0, sec)},
				{do: charge(2), want: no(0, sec, 2*sec)},
			},
		},
		{
			name: "T_rounds_up", limits: list(gcra(7, sec)),
			wants: "T is window/count in whole microseconds, rounded up",
			steps: []step{
				{do: charge(1), want: ok(6, 142_858*us)},
				{do: charge(6), want: ok(0, 1_000_006*us)},
				{do: charge(1), want: no(0, 1_000_006*us, 142_858*us)},
				{after: 142_857 * us, do: charge(1), want: no(0, 857_149*us, us)},
				{after: us, do: charge(1), want: ok(0, 1_000_006*us)},
			},
		},
		{
			name: "fractions_are_not_left", limits: ten,
			wants: "remaining counts whole units, rounded down",
			steps: []step{
				{do: charge(1), want: ok(9, 6*sec)},
				{after: 6*sec - us, do: look(10), want: no(9, us, us)},
				{after: us, do: look(10), want: ok(10, 0)},
			},
		},
		{
			name: "costs", limits: ten,
			wants: "a cost fits whole or not at all; a cost beyond the burst waits longer than a full bucket",
			steps: []step{
				{do: charge(11), want: no(10, 0, 6*sec)},
				{do: charge(10), want: ok(0, 60*sec)},
				{do: charge(10), want: no(0, 60*sec, 60*sec)},
				{after: 18 * sec, do: charge(4), want: no(3, 42*sec, 6*sec)},
				{do: charge(3), want: ok(0, 60*sec)},
			},
		},
		{
			name: "cost_0", limits: ten,
			wants: "a cost of 0 is allowed even on an empty bucket and writes nothing",
			steps: []step{
				{do: charge(0), want: ok(10, 0)},
				{do: charge(10), want: ok(0, 60*sec)},
				{do: charge(0), want: ok(0, 60*sec)},
				{do: look(0), want: ok(0, 60*sec)},
				{do: force(0), want: ok(0, 60*sec)},
				{after: 6 * sec, do: charge(0), want: ok(1, 54*sec)},
			},
		},
		{
			name: "look", limits: ten,
			wants: "a look judges its cost and writes nothing",
			steps: []step{
				{do: look(1), want: ok(10, 0)},
				{do: look(11), want: no(10, 0, 6*sec)},
				{do: charge(8), want: ok(2, 48*sec)},
				{do: look(2), want: ok(2, 48*sec)},
				{do: look(3), want: no(2, 48*sec, 6*sec)},
				{do: charge(2), want: ok(0, 60*sec)},
			},
		},
		{
			name: "force", limits: ten,
			wants: "a force takes what is left up to its cost, a part of a unit too, and never refuses; Charged counts the whole units",
			steps: []step{
				{do: force(4), want: ok(6, 24*sec)},
				{do: force(7), want: met(6, 60*sec)},
				{do: force(1), want: met(0, 60*sec)},
				{after: 3 * sec, do: force(1), want: met(0, 60*sec)},
				{after: 15 * sec, do: force(math.MaxInt), want: met(2, 60*sec)},
				{after: 6 * sec, do: charge(1), want: ok(0, 60*sec)},
			},
		},
		{
			name: "give_back", limits: ten,
			wants: "a force below 0 gives units back, never beyond full, and reports its cost as charged",
			steps: []step{
				{do: force(-3), want: ok(10, 0)},
				{do: charge(10), want: ok(0, 60*sec)},
				{do: force(-2), want: ok(2, 48*sec)},
				{after: 3 * sec, do: force(-100), want: ok(10, 0)},
				{do: charge(10), want: ok(0, 60*sec)},
				{do: force(math.MinInt), want: ok(10, 0)},
				{do: charge(11), want: no(10, 0, 6*sec)},
				{do: charge(10), want: ok(0, 60*sec)},
			},
		},
		{
			name: "nanoseconds", limits: ten,
			wants: "time is whole microseconds, rounded down",
			steps: []step{
				{do: charge(10), want: ok(0, 60*sec)},
				{after: 999, do: charge(1), want: no(0, 60*sec, 6*sec)},
				{after: 1, do: charge(1), want: no(0, 60*sec-us, 6*sec-us)},
				{after: 6*sec - us - 1, do: charge(1), want: no(0, 54*sec+us, us)},
				{after: 1, do: charge(1), want: ok(0, 60*sec)},
			},
		},
		{
			name: "large_numbers", limits: list(burst(1, 2*sec-us, math.MaxInt32)),
			wants: "whole microseconds stay exact up to 2^53",
			steps: []step{
				{do: charge(math.MaxInt32 - 1), want: ok(1, (math.MaxInt32-1)*(2*sec-us))},
				{do: charge(2), want: no(1, (math.MaxInt32-1)*(2*sec-us), 2*sec-us)},
				{after: us, do: charge(1), want: ok(0, math.MaxInt32*(2*sec-us)-us)},
				{do: charge(1), want: no(0, math.MaxInt32*(2*sec-us)-us, 2*sec-2*us)},
			},
		},
		{
			name: "far_beyond_the_burst", limits: list(core.Limit{Count: 1, Window: sec, Burst: 5}),
			wants: "a cost that never fits is refused with its wait, not with an error",
			steps: []step{
				{do: charge(1_000_000_000), want: no(5, 0, 999_999_995*sec)},
				{do: charge(5), want: ok(0, 5*sec)},
			},
		},
	}
}
