package storetest

import (
	"math"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// fixedWindowTables tell of a single fixed window. The clock begins 46 s before
// a minute ends, 6 s before ten seconds end.
func fixedWindowTables() []table {
	ten := list(fixed(10, time.Minute))
	return []table{
		{
			name: "turns_over", limits: ten,
			wants: "a window ends at a multiple of its length since 1970, and what was spent in it is gone",
			steps: []step{
				{do: look(10), want: ok(10, 0)},
				{do: charge(9), want: ok(1, 46*sec)},
				{do: charge(1), want: ok(0, 46*sec)},
				{do: charge(1), want: no(0, 46*sec, 46*sec)},
				{after: 46*sec - us, do: charge(1), want: no(0, us, us)},
				{after: us, do: look(10), want: ok(10, 0)},
				{do: charge(1), want: ok(9, 60*sec)},
				{after: 10 * time.Minute, do: charge(1), want: ok(9, 60*sec)},
			},
		},
		{
			name: "edge", limits: ten,
			wants: "around an edge up to twice the count is admitted",
			steps: []step{
				{after: 46*sec - us, do: charge(10), want: ok(0, us)},
				{after: us, do: charge(10), want: ok(0, 60*sec)},
				{do: charge(1), want: no(0, 60*sec, 60*sec)},
			},
		},
		{
			name: "refusals_do_not_count", limits: ten,
			wants: "refused requests are not counted",
			steps: []step{
				{do: charge(8), want: ok(2, 46*sec)},
				{do: charge(3), want: no(2, 46*sec, 46*sec)},
				{do: charge(3), want: no(2, 46*sec, 46*sec)},
				{do: charge(2), want: ok(0, 46*sec)},
			},
		},
		{
			name: "capacity", limits: list(core.Limit{Algorithm: core.FixedWindow, Count: 10, Window: time.Minute, Burst: 3}),
			wants: "the capacity is Count; Burst is ignored",
			steps: []step{
				{do: charge(11), want: no(10, 0, 46*sec)},
				{do: charge(10), want: ok(0, 46*sec)},
				{do: charge(10), want: no(0, 46*sec, 46*sec)},
			},
		},
		{
			name: "cost_0", limits: ten,
			wants: "a cost of 0 is allowed even on an empty bucket and writes nothing",
			steps: []step{
				{do: charge(0), want: ok(10, 0)},
				{do: charge(10), want: ok(0, 46*sec)},
				{do: charge(0), want: ok(0, 46*sec)},
				{do: force(0), want: ok(0, 46*sec)},
				{do: look(0), want: ok(0, 46*sec)},
			},
		},
		{
			name: "look", limits: ten,
			wants: "a look judges its cost and writes nothing",
			steps: []step{
				{do: look(11), want: no(10, 0, 46*sec)},
				{do: charge(8), want: ok(2, 46*sec)},
				{do: look(2), want: ok(2, 46*sec)},
				{do: look(3), want: no(2, 46*sec, 46*sec)},
				{do: charge(2), want: ok(0, 46*sec)},
			},
		},
		{
			name: "force", limits: ten,
			wants: "a force takes what is left up to its cost and never refuses",
			steps: []step{
				{do: force(4), want: ok(6, 46*sec)},
				{do: force(7), want: met(6, 46*sec)},
				{do: force(1), want: met(0, 46*sec)},
				{do: force(-2), want: ok(2, 46*sec)},
				{after: 46 * sec, do: force(math.MaxInt), want: met(10, 60*sec)},
			},
		},
		{
			name: "give_back", limits: ten,
			wants: "a force below 0 lowers what the current window has used, never below 0",
			steps: []step{
				{do: force(-3), want: ok(10, 0)},
				{do: charge(10), want: ok(0, 46*sec)},
				{do: force(-3), want: ok(3, 46*sec)},
				{do: force(-100), want: ok(10, 0)},
				{do: charge(11), want: no(10, 0, 46*sec)},
				{do: charge(10), want: ok(0, 46*sec)},
				{do: force(math.MinInt), want: ok(10, 0)},
			},
		},
		{
			name: "give_back_late", limits: ten,
			wants: "units of a past window are gone: giving them back credits nothing",
			steps: []step{
				{do: charge(4), want: ok(6, 46*sec)},
				{after: 46 * sec, do: charge(2), want: ok(8, 60*sec)},
				{do: force(-4), want: ok(10, 0)},
				{do: charge(11), want: no(10, 0, 60*sec)},
			},
		},
		{
			name: "odd_window", limits: list(fixed(2, 7*sec)),
			wants: "windows begin at multiples of their length since 1970",
			steps: []step{
				{do: charge(2), want: ok(0, sec)},
				{after: sec, do: charge(2), want: ok(0, 7*sec)},
			},
		},
		{
			name: "day", limits: list(fixed(1000, 24*time.Hour)),
			wants: "a day begins at midnight UTC",
			steps: []step{
				{do: charge(1000), want: ok(0, 38_506*sec)},
				{after: 38_506*sec - us, do: charge(1), want: no(0, us, us)},
				{after: us, do: charge(1), want: ok(999, 24*time.Hour)},
			},
		},
		{
			name: "large_numbers", limits: list(fixed(math.MaxInt32, time.Hour)),
			wants: "counts stay exact",
			steps: []step{
				{do: charge(math.MaxInt32 - 1), want: ok(1, 2506*sec)},
				{do: charge(2), want: no(1, 2506*sec, 2506*sec)},
				{do: charge(1), want: ok(0, 2506*sec)},
			},
		},
	}
}
