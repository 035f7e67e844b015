package storetest

import "time"

// windowsTables tell of several windows that must all agree. Each table runs
// with its limits as written, reversed, and in another order every step.
func windowsTables() []table {
	day := 24 * time.Hour
	return []table{
		{
			name: "all_or_none", limits: list(gcra(10, time.Minute), gcra(2, sec)),
			wants: "all windows are judged first, then all are charged or none; after a refusal a window that the cost fits has retry 0",
			steps: []step{
				{do: charge(2), want: oks(lv(8, 12*sec, 0), lv(0, sec, 0))},
				{do: charge(1), want: nos(lv(8, 12*sec, 0), lv(0, sec, 500*ms))},
				{do: charge(9), want: nos(lv(8, 12*sec, 6*sec), lv(0, sec, 4500*ms))},
				{after: 500 * ms, do: charge(1), want: oks(lv(7, 17500*ms, 0), lv(0, sec, 0))},
				{after: sec, do: charge(2), want: oks(lv(5, 28500*ms, 0), lv(0, sec, 0))},
				{after: sec, do: charge(2), want: oks(lv(3, 39500*ms, 0), lv(0, sec, 0))},
				{after: sec, do: charge(2), want: oks(lv(1, 50500*ms, 0), lv(0, sec, 0))},
				{after: sec, do: charge(2), want: nos(lv(1, 49500*ms, 1500*ms), lv(2, 0, 0))},
				{do: charge(1), want: oks(lv(0, 55500*ms, 0), lv(1, 500*ms, 0))},
			},
		},
		{
			name: "three_algorithms", limits: list(gcra(4, 4*sec), fixed(6, time.Minute), sliding(5, 10*sec)),
			wants: "windows of different algorithms are charged together or not at all",
			steps: []step{
				{do: look(4), want: oks(lv(4, 0, 0), lv(6, 0, 0), lv(5, 0, 0))},
				{do: charge(4), want: oks(lv(0, 4*sec, 0), lv(2, 46*sec, 0), lv(1, 10*sec, 0))},
				{do: charge(1), want: nos(lv(0, 4*sec, sec), lv(2, 46*sec, 0), lv(1, 10*sec, 0))},
				{after: 2 * sec, do: charge(2), want: nos(lv(2, 2*sec, 0), lv(2, 44*sec, 0), lv(1, 8*sec, 8*sec))},
				{do: charge(1), want: oks(lv(1, 3*sec, 0), lv(1, 44*sec, 0), lv(0, 10*sec, 0))},
				{after: 8 * sec, do: charge(2), want: nos(lv(4, 0, 0), lv(1, 36*sec, 36*sec), lv(4, 2*sec, 0))},
				{do: charge(1), want: oks(lv(3, sec, 0), lv(0, 36*sec, 0), lv(3, 10*sec, 0))},
				{after: 36 * sec, do: charge(4), want: oks(lv(0, 4*sec, 0), lv(2, 60*sec, 0), lv(1, 10*sec, 0))},
			},
		},
		{
			name: "four_windows", limits: list(gcra(5, sec), fixed(7, 10*sec), sliding(8, time.Minute), fixed(9, day)),
			wants: "up to MaxLimits windows are charged together or not at all",
			steps: []step{
				{do: charge(5), want: oks(lv(0, sec, 0), lv(2, 6*sec, 0), lv(3, 60*sec, 0), lv(4, 38506*sec, 0))},
				{do: charge(1), want: nos(lv(0, sec, 200*ms), lv(2, 6*sec, 0), lv(3, 60*sec, 0), lv(4, 38506*sec, 0))},
				{after: sec, do: charge(3), want: nos(lv(5, 0, 0), lv(2, 5*sec, 5*sec), lv(3, 59*sec, 0), lv(4, 38505*sec, 0))},
				{after: 5 * sec, do: charge(4), want: nos(lv(5, 0, 0), lv(7, 0, 0), lv(3, 54*sec, 54*sec), lv(4, 38500*sec, 0))},
				{do: charge(3), want: oks(lv(2, 600*ms, 0), lv(4, 10*sec, 0), lv(0, 60*sec, 0), lv(1, 38500*sec, 0))},
				{after: 60 * sec, do: charge(2), want: nos(lv(5, 0, 0), lv(7, 0, 0), lv(8, 0, 0), lv(1, 38440*sec, 38440*sec))},
				{do: charge(1), want: oks(lv(4, 200*ms, 0), lv(6, 10*sec, 0), lv(7, 60*sec, 0), lv(0, 38440*sec, 0))},
			},
		},
		{
			name: "same_algorithm", limits: list(fixed(3, 10*sec), fixed(5, time.Minute)),
			wants: "two windows of one algorithm count apart",
			steps: []step{
				{do: charge(3), want: oks(lv(0, 6*sec, 0), lv(2, 46*sec, 0))},
				{do: charge(1), want: nos(lv(0, 6*sec, 6*sec), lv(2, 46*sec, 0))},
				{after: 6 * sec, do: charge(3), want: nos(lv(3, 0, 0), lv(2, 40*sec, 40*sec))},
				{do: charge(2), want: oks(lv(1, 10*sec, 0), lv(0, 40*sec, 0))},
			},
		},
		{
			name: "two_logs", limits: list(sliding(2, sec), sliding(3, 10*sec)),
			wants: "two logs keep their entries apart",
			steps: []step{
				{do: charge(2), want: oks(lv(0, sec, 0), lv(1, 10*sec, 0))},
				{after: sec, do: charge(2), want: nos(lv(2, 0, 0), lv(1, 9*sec, 9*sec))},
				{do: charge(1), want: oks(lv(1, sec, 0), lv(0, 10*sec, 0))},
				{do: force(-1), want: oks(lv(2, 0, 0), lv(1, 9*sec, 0))},
			},
		},
		{
			name: "cost_0", limits: list(gcra(1, sec), fixed(1, time.Minute)),
			wants: "a cost of 0 is allowed whatever stands in the windows",
			steps: []step{
				{do: charge(1), want: oks(lv(0, sec, 0), lv(0, 46*sec, 0))},
				{do: charge(0), want: oks(lv(0, sec, 0), lv(0, 46*sec, 0))},
			},
		},
		{
			name: "force", limits: list(gcra(10, time.Minute), fixed(3, time.Minute)),
			wants: "a force takes from each window what that one has left; Charged is the least of them",
			steps: []step{
				{do: force(5), want: mets(3, lv(5, 30*sec, 0), lv(0, 46*sec, 0))},
				{do: force(2), want: mets(0, lv(3, 42*sec, 0), lv(0, 46*sec, 0))},
				{do: force(9), want: mets(0, lv(0, 60*sec, 0), lv(0, 46*sec, 0))},
				{after: 46 * sec, do: force(2), want: mets(2, lv(5, 26*sec, 0), lv(1, 60*sec, 0))},
			},
		},
		{
			name: "give_back", limits: list(gcra(10, time.Minute), fixed(3, time.Minute), sliding(5, 10*sec)),
			wants: "units go back to every window, beyond full in none",
			steps: []step{
				{do: charge(3), want: oks(lv(7, 18*sec, 0), lv(0, 46*sec, 0), lv(2, 10*sec, 0))},
				{do: force(-1), want: oks(lv(8, 12*sec, 0), lv(1, 46*sec, 0), lv(3, 10*sec, 0))},
				{after: 9 * sec, do: force(-1), want: oks(lv(10, 0, 0), lv(2, 37*sec, 0), lv(4, sec, 0))},
				{do: force(-9), want: oks(lv(10, 0, 0), lv(3, 0, 0), lv(5, 0, 0))},
				{do: charge(3), want: oks(lv(7, 18*sec, 0), lv(0, 37*sec, 0), lv(2, 10*sec, 0))},
			},
		},
	}
}
