package storetest

import (
	"math"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// slidingLogTables tell of a single sliding log of 5 units in 10 s.
func slidingLogTables() []table {
	five := list(sliding(5, 10*sec))
	return []table{
		{
			name: "slides", limits: five,
			wants: "an entry leaves at exactly its time + window",
			steps: []step{
				{do: look(5), want: ok(5, 0)},
				{do: charge(2), want: ok(3, 10*sec)},
				{after: 4 * sec, do: charge(3), want: ok(0, 10*sec)},
				{do: charge(1), want: no(0, 10*sec, 6*sec)},
				{after: 6*sec - us, do: charge(1), want: no(0, 4*sec+us, us)},
				{after: us, do: charge(2), want: ok(0, 10*sec)},
				{do: charge(1), want: no(0, 10*sec, 4*sec)},
				{after: 10 * sec, do: look(5), want: ok(5, 0)},
			},
		},
		{
			name: "span", limits: list(sliding(3, time.Minute)),
			wants: "no more than the count in any span of one window, also around an edge of the clock",
			steps: []step{
				{after: 45 * sec, do: charge(3), want: ok(0, 60*sec)},
				{after: 2 * sec, do: charge(1), want: no(0, 58*sec, 58*sec)},
				{after: 58*sec - us, do: charge(1), want: no(0, us, us)},
				{after: us, do: charge(1), want: ok(2, 60*sec)},
			},
		},
		{
			name: "retry", limits: five,
			wants: "retry is when enough of the oldest units have left; reset is when the newest leaves",
			steps: []step{
				{do: charge(1), want: ok(4, 10*sec)},
				{after: sec, do: charge(2), want: ok(2, 10*sec)},
				{after: sec, do: charge(2), want: ok(0, 10*sec)},
				{do: look(1), want: no(0, 10*sec, 8*sec)},
				{do: look(2), want: no(0, 10*sec, 9*sec)},
				{do: look(3), want: no(0, 10*sec, 9*sec)},
				{do: look(4), want: no(0, 10*sec, 10*sec)},
				{after: 8 * sec, do: charge(2), want: no(1, 2*sec, sec)},
				{do: charge(1), want: ok(0, 10*sec)},
			},
		},
		{
			name: "refusals_are_not_logged", limits: five,
			wants: "refused requests are not logged",
			steps: []step{
				{do: charge(4), want: ok(1, 10*sec)},
				{after: sec, do: charge(2), want: no(1, 9*sec, 9*sec)},
				{after: sec, do: charge(2), want: no(1, 8*sec, 8*sec)},
				{do: charge(1), want: ok(0, 10*sec)},
				{after: 8 * sec, do: charge(4), want: ok(0, 10*sec)},
			},
		},
		{
			name: "capacity", limits: list(core.Limit{Algorithm: core.SlidingLog, Count: 5, Window: 10 * sec, Burst: 2}),
			wants: "the capacity is Count; Burst is ignored; a cost beyond it is told the whole window",
			steps: []step{
				{do: charge(6), want: no(5, 0, 10*sec)},
				{do: charge(5), want: ok(0, 10*sec)},
				{after: 3 * sec, do: charge(5), want: no(0, 7*sec, 7*sec)},
				{do: charge(6), want: no(0, 7*sec, 10*sec)},
			},
		},
		{
			name: "cost_0", limits: five,
			wants: "a cost of 0 is allowed even on an empty bucket and writes nothing",
			steps: []step{
				{do: charge(0), want: ok(5, 0)},
				{do: force(0), want: ok(5, 0)},
				{do: charge(5), want: ok(0, 10*sec)},
				{after: sec, do: charge(0), want: ok(0, 9*sec)},
				{do: force(0), want: ok(0, 9*sec)},
				{do: look(0), want: ok(0, 9*sec)},
			},
		},
		{
			name: "look", limits: five,
			wants: "a look judges its cost and writes nothing",
			steps: []step{
				{do: look(6), want: no(5, 0, 10*sec)},
				{do: charge(3), want: ok(2, 10*sec)},
				{after: sec, do: look(2), want: ok(2, 9*sec)},
				{do: look(3), want: no(2, 9*sec, 9*sec)},
				{do: charge(2), want: ok(0, 10*sec)},
			},
		},
		{
			name: "force", limits: five,
			wants: "a force takes what is left up to its cost and never refuses",
			steps: []step{
				{do: force(2), want: ok(3, 10*sec)},
				{after: sec, do: force(9), want: met(3, 10*sec)},
				{after: sec, do: force(1), want: met(0, 9*sec)},
				{do: force(-1), want: ok(1, 9*sec)},
				{do: charge(1), want: ok(0, 10*sec)},
				{after: 8 * sec, do: force(math.MaxInt), want: met(2, 10*sec)},
			},
		},
		{
			name: "give_back", limits: five,
			wants: "a force below 0 takes the newest entries away, part of an entry if need be, never beyond full",
			steps: []step{
				{do: force(-1), want: ok(5, 0)},
				{do: charge(2), want: ok(3, 10*sec)},
				{after: 4 * sec, do: charge(3), want: ok(0, 10*sec)},
				{do: force(-1), want: ok(1, 10*sec)},
				{do: force(-2), want: ok(3, 6*sec)},
				{do: force(-1), want: ok(4, 6*sec)},
				{do: force(math.MinInt), want: ok(5, 0)},
				{do: charge(6), want: no(5, 0, 10*sec)},
				{do: charge(5), want: ok(0, 10*sec)},
			},
		},
		{
			name: "give_back_late", limits: five,
			wants: "units that have left are gone: giving them back credits nothing",
			steps: []step{
				{do: charge(3), want: ok(2, 10*sec)},
				{after: 10 * sec, do: charge(1), want: ok(4, 10*sec)},
				{do: force(-3), want: ok(5, 0)},
				{do: charge(6), want: no(5, 0, 10*sec)},
			},
		},
		{
			name: "one_moment", limits: five,
			wants: "units of one moment leave together",
			steps: []step{
				{do: charge(1), want: ok(4, 10*sec)},
				{do: charge(1), want: ok(3, 10*sec)},
				{do: charge(3), want: ok(0, 10*sec)},
				{do: charge(1), want: no(0, 10*sec, 10*sec)},
				{do: force(-4), want: ok(4, 10*sec)},
				{after: 10 * sec, do: look(5), want: ok(5, 0)},
			},
		},
	}
}
