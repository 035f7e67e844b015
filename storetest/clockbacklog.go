package storetest

import "time"

func slidingLogBackTables() []table {
	five := list(sliding(5, 10*sec))
	return []table{
		{
			name: "sliding_log/jitter", limits: five,
			wants: "entries up to 1 s ahead keep their time, and a new entry is never logged before one that is there",
			steps: []step{
				{do: charge(2), want: ok(3, 10*sec)},
				{after: -sec, do: charge(1), want: ok(2, 11*sec)},
				{do: charge(3), want: no(2, 11*sec, 11*sec)},
				{after: 11*sec - us, do: look(3), want: no(2, us, us)},
				{after: us, do: look(5), want: ok(5, 0)},
			},
		},
		{
			name: "sliding_log/refusal_mends", limits: five,
			wants: "beyond 1 s every entry ahead of now becomes now; a look shows that, a refusal writes it",
			steps: []step{
				{do: charge(2), want: ok(3, 10*sec)},
				{after: -aBit, do: look(4), want: no(3, 10*sec, 10*sec)},
				{after: aBit, do: look(1), want: ok(3, 10*sec)},
				{after: -aBit, do: charge(4), want: no(3, 10*sec, 10*sec)},
				{after: aBit, do: look(1), want: ok(3, 10*sec-aBit)},
			},
		},
		{
			name: "sliding_log/newest_decides", limits: five,
			wants: "when the newest entry is more than 1 s ahead, all entries ahead of now become now and the others stay",
			steps: []step{
				{do: charge(1), want: ok(4, 10*sec)},
				{after: 500 * ms, do: charge(1), want: ok(3, 10*sec)},
				{after: 3500 * ms, do: charge(3), want: ok(0, 10*sec)},
				{after: -3750 * ms, do: charge(1), want: no(0, 10*sec, 9750*ms)},
				{after: 9750 * ms, do: charge(1), want: ok(0, 10*sec)},
				{do: charge(1), want: no(0, 10*sec, 250*ms)},
				{after: 250 * ms, do: charge(4), want: ok(0, 10*sec)},
			},
		},
		{
			name: "sliding_log/charge_mends", limits: five,
			wants: "a charge writes the mend",
			steps: []step{
				{do: charge(2), want: ok(3, 10*sec)},
				{after: -5 * sec, do: charge(1), want: ok(2, 10*sec)},
				{after: 5 * sec, do: look(1), want: ok(2, 5*sec)},
				{after: 5 * sec, do: charge(5), want: ok(0, 10*sec)},
			},
		},
		{
			name: "sliding_log/force_mends", limits: five,
			wants: "a force writes the mend; a give-back counts from the mended log",
			steps: []step{
				{do: charge(2), want: ok(3, 10*sec)},
				{after: -5 * sec, do: force(-1), want: ok(4, 10*sec)},
				{after: 5 * sec, do: look(1), want: ok(4, 5*sec)},
				{after: -5 * sec, do: force(1), want: ok(3, 10*sec)},
				{after: 10 * sec, do: look(5), want: ok(5, 0)},
			},
		},
	}
}

func windowsBackTables() []table {
	return []table{
		{
			name: "windows/fixed_window_mends", limits: list(gcra(10, time.Minute), fixed(20, 10*sec)),
			wants: "the mend of one window is written also when another is the one that refuses",
			steps: []step{
				{after: 6 * sec, do: charge(1), want: oks(lv(9, 6*sec, 0), lv(19, 10*sec, 0))},
				{after: -3 * sec, do: look(10), want: nos(lv(8, 9*sec, 9*sec), lv(19, 3*sec, 0))},
				{after: 3 * sec, do: look(1), want: oks(lv(9, 6*sec, 0), lv(19, 10*sec, 0))},
				{after: -3 * sec, do: charge(10), want: nos(lv(8, 9*sec, 9*sec), lv(19, 3*sec, 0))},
				{after: 3 * sec, do: look(1), want: oks(lv(9, 6*sec, 0), lv(20, 0, 0))},
			},
		},
		{
			name: "windows/sliding_log_mends", limits: list(gcra(10, time.Minute), sliding(20, 10*sec)),
			wants: "the mend of one window is written also when another is the one that refuses",
			steps: []step{
				{do: charge(1), want: oks(lv(9, 6*sec, 0), lv(19, 10*sec, 0))},
				{after: -3 * sec, do: charge(10), want: nos(lv(8, 9*sec, 9*sec), lv(19, 10*sec, 0))},
				{after: 3 * sec, do: look(1), want: oks(lv(9, 6*sec, 0), lv(19, 7*sec, 0))},
			},
		},
		{
			name: "windows/gcra_mends", limits: list(gcra(2, 2*sec), fixed(2, time.Hour)),
			wants: "the mend of one window is written also when another refuses longer",
			steps: []step{
				{do: charge(2), want: oks(lv(0, 2*sec, 0), lv(0, 2506*sec, 0))},
				{after: -10 * sec, do: charge(1), want: nos(lv(0, 2*sec, sec), lv(0, 2516*sec, 2516*sec))},
				{after: sec, do: charge(1), want: nos(lv(1, sec, 0), lv(0, 2515*sec, 2515*sec))},
				{after: sec, do: look(2), want: nos(lv(2, 0, 0), lv(0, 2514*sec, 2514*sec))},
			},
		},
	}
}
