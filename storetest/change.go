package storetest

import (
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// changeTables tell what a bucket keeps when the plan changes under it.
func changeTables() []table {
	return []table{
		{
			name: "fixed_window_count", limits: list(fixed(10, time.Minute)),
			wants: "a changed count keeps the used units; remaining is never below 0",
			steps: []step{
				{do: charge(6), want: ok(4, 46*sec)},
				{limits: list(fixed(4, time.Minute)), do: charge(1), want: no(0, 46*sec, 46*sec)},
				{do: force(2), want: met(0, 46*sec)},
				{limits: list(fixed(20, time.Minute)), do: charge(1), want: ok(13, 46*sec)},
			},
		},
		{
			name: "sliding_log_count", limits: list(sliding(10, 10*sec)),
			wants: "a changed count keeps the used units; remaining is never below 0",
			steps: []step{
				{do: charge(3), want: ok(7, 10*sec)},
				{after: sec, do: charge(3), want: ok(4, 10*sec)},
				{limits: list(sliding(4, 10*sec)), do: charge(1), want: no(0, 10*sec, 9*sec)},
				{do: charge(2), want: no(0, 10*sec, 10*sec)},
				{do: force(2), want: met(0, 10*sec)},
				{limits: list(sliding(20, 10*sec)), do: charge(1), want: ok(13, 10*sec)},
			},
		},
		{
			name: "two_windows_count", limits: list(gcra(10, time.Minute), fixed(10, time.Hour)),
			wants: "a changed count keeps the used units of a fixed window and the tat of a GCRA window",
			steps: []step{
				{do: charge(5), want: oks(lv(5, 30*sec, 0), lv(5, 2506*sec, 0))},
				{limits: list(gcra(20, time.Minute), fixed(8, time.Hour)), do: charge(1), want: oks(lv(9, 33*sec, 0), lv(2, 2506*sec, 0))},
				{limits: list(gcra(10, time.Minute), fixed(3, time.Hour)), do: charge(1), want: nos(lv(4, 33*sec, 0), lv(0, 2506*sec, 2506*sec))},
			},
		},
		{
			name: "gcra_window", limits: list(gcra(10, time.Minute)),
			wants: "a lone GCRA window is the plain bucket, whatever its window: its tat stays",
			steps: []step{
				{do: charge(5), want: ok(5, 30*sec)},
				{limits: list(gcra(20, time.Minute)), do: look(1), want: ok(10, 30*sec)},
				{limits: list(gcra(100, time.Hour)), do: charge(1), want: ok(98, 66*sec)},
				{limits: list(gcra(10, time.Minute)), do: charge(1), want: no(0, 60*sec, 6*sec)},
			},
		},
		{
			name: "gcra_shrinks", limits: list(gcra(10, time.Minute)),
			wants: "a tat more than 1 s beyond an empty bucket is mended: a look shows it, a refusal writes it",
			steps: []step{
				{do: charge(10), want: ok(0, 60*sec)},
				{limits: list(gcra(1, sec)), do: look(1), want: no(0, sec, sec)},
				{limits: list(gcra(10, time.Minute)), do: look(1), want: no(0, 60*sec, 6*sec)},
				{limits: list(gcra(1, sec)), do: charge(1), want: no(0, sec, sec)},
				{after: sec, do: charge(1), want: ok(0, sec)},
				{limits: list(gcra(10, time.Minute)), do: look(1), want: ok(9, sec)},
			},
		},
		{
			name: "sets", limits: list(gcra(10, time.Minute)),
			wants: "each set of (algorithm, window) has a bucket of its own, and using one leaves the others as they are",
			steps: []step{
				{do: charge(1), want: ok(9, 6*sec)},
				{limits: list(fixed(10, time.Minute)), do: charge(2), want: ok(8, 46*sec)},
				{limits: list(sliding(10, time.Minute)), do: charge(3), want: ok(7, 60*sec)},
				{limits: list(fixed(10, time.Hour)), do: charge(4), want: ok(6, 2506*sec)},
				{limits: list(sliding(10, time.Hour)), do: charge(5), want: ok(5, time.Hour)},
				{limits: list(gcra(10, time.Minute)), do: look(1), want: ok(9, 6*sec)},
				{limits: list(fixed(10, time.Minute)), do: look(1), want: ok(8, 46*sec)},
				{limits: list(sliding(10, time.Minute)), do: look(1), want: ok(7, 60*sec)},
				{limits: list(fixed(10, time.Hour)), do: look(1), want: ok(6, 2506*sec)},
				{limits: list(sliding(10, time.Hour)), do: look(1), want: ok(5, time.Hour)},
			},
		},
		{
			name: "sets_of_several", limits: list(gcra(10, time.Minute)),
			wants: "a window alone and the same window beside others are different buckets",
			steps: setsOfSeveral(),
		},
	}
}

func setsOfSeveral() []step {
	one := list(gcra(10, time.Minute))
	two := list(gcra(10, time.Minute), fixed(10, time.Minute))
	three := list(gcra(10, time.Minute), fixed(10, time.Minute), sliding(10, time.Minute))
	other := []core.Limit{gcra(10, time.Minute), fixed(10, time.Hour)}
	return []step{
		{do: charge(1), want: ok(9, 6*sec)},
		{limits: two, do: charge(2), want: oks(lv(8, 12*sec, 0), lv(8, 46*sec, 0))},
		{limits: three, do: charge(3), want: oks(lv(7, 18*sec, 0), lv(7, 46*sec, 0), lv(7, 60*sec, 0))},
		{limits: other, do: charge(4), want: oks(lv(6, 24*sec, 0), lv(6, 2506*sec, 0))},
		{limits: one, do: look(1), want: ok(9, 6*sec)},
		{limits: two, do: look(1), want: oks(lv(8, 12*sec, 0), lv(8, 46*sec, 0))},
		{limits: three, do: look(1), want: oks(lv(7, 18*sec, 0), lv(7, 46*sec, 0), lv(7, 60*sec, 0))},
		{limits: other, do: look(1), want: oks(lv(6, 24*sec, 0), lv(6, 2506*sec, 0))},
	}
}
