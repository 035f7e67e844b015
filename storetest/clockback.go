package storetest

import (
	"slices"
	"time"
)

// clockBackTables tell of clocks that step back while nothing of the state has
// run out: a store may have forgotten the rest.
func clockBackTables() []table {
	return slices.Concat(gcraBackTables(), fixedWindowBackTables(), slidingLogBackTables(), windowsBackTables())
}

// aBit is just more than jitter.
const aBit = sec + us

func gcraBackTables() []table {
	ten := list(gcra(10, time.Minute))
	return []table{
		{
			name: "gcra/jitter", limits: ten,
			wants: "up to 1 s is jitter: a tat up to 1 s beyond now + tau stays and refuses with remaining 0",
			steps: []step{
				{do: charge(10), want: ok(0, 60*sec)},
				{after: -sec, do: look(1), want: no(0, 61*sec, 7*sec)},
				{do: charge(1), want: no(0, 61*sec, 7*sec)},
				{do: force(1), want: met(0, 61*sec)},
				{after: sec, do: charge(1), want: no(0, 60*sec, 6*sec)},
				{after: 6 * sec, do: charge(1), want: ok(0, 60*sec)},
			},
		},
		{
			name: "gcra/refusal_mends", limits: ten,
			wants: "beyond 1 s the tat becomes now + tau, and a refusal writes that: who waits as told is let in",
			steps: []step{
				{do: charge(10), want: ok(0, 60*sec)},
				{after: -aBit, do: charge(1), want: no(0, 60*sec, 6*sec)},
				{after: -30 * sec, do: charge(1), want: no(0, 60*sec, 6*sec)},
				{after: 6 * sec, do: charge(1), want: ok(0, 60*sec)},
			},
		},
		{
			name: "gcra/look_does_not", limits: ten,
			wants: "a look shows the mended view and writes nothing, a charge of 0 neither",
			steps: []step{
				{do: charge(10), want: ok(0, 60*sec)},
				{after: -30 * sec, do: look(1), want: no(0, 60*sec, 6*sec)},
				{do: charge(0), want: ok(0, 60*sec)},
				{after: 30 * sec, do: look(1), want: no(0, 60*sec, 6*sec)},
			},
		},
		{
			name: "gcra/force_mends", limits: ten,
			wants: "a force writes the mend; a give-back counts from the mended tat",
			steps: []step{
				{do: charge(10), want: ok(0, 60*sec)},
				{after: -30 * sec, do: force(1), want: met(0, 60*sec)},
				{after: 6 * sec, do: charge(1), want: ok(0, 60*sec)},
				{after: -20 * sec, do: force(-2), want: ok(2, 48*sec)},
				{do: charge(2), want: ok(0, 60*sec)},
			},
		},
		{
			name: "gcra/debt_stays", limits: ten,
			wants: "a tat that is not beyond an empty bucket stays where it is, however far the clock went back",
			steps: []step{
				{do: charge(2), want: ok(8, 12*sec)},
				{after: -30 * sec, do: charge(1), want: ok(2, 48*sec)},
				{after: 30 * sec, do: charge(1), want: ok(6, 24*sec)},
			},
		},
	}
}

func fixedWindowBackTables() []table {
	ten := list(fixed(10, time.Minute))
	return []table{
		{
			name: "fixed_window/within", limits: ten,
			wants: "the current window is the current window wherever in it the clock stands",
			steps: []step{
				{do: charge(4), want: ok(6, 46*sec)},
				{after: -10 * sec, do: charge(1), want: ok(5, 56*sec)},
			},
		},
		{
			name: "fixed_window/jitter", limits: ten,
			wants: "while now ≥ start − 1 s of the stored window, that is the current one",
			steps: []step{
				{after: 46 * sec, do: charge(4), want: ok(6, 60*sec)},
				{after: -sec, do: look(7), want: no(6, 61*sec, 61*sec)},
				{do: charge(6), want: ok(0, 61*sec)},
				{do: charge(1), want: no(0, 61*sec, 61*sec)},
				{after: sec, do: charge(1), want: no(0, 60*sec, 60*sec)},
			},
		},
		{
			name: "fixed_window/charge_mends", limits: ten,
			wants: "beyond 1 s what the later window used moves into the current one; a look shows that, a charge writes it",
			steps: []step{
				{after: 46 * sec, do: charge(4), want: ok(6, 60*sec)},
				{after: -aBit, do: look(1), want: ok(6, aBit)},
				{after: aBit, do: look(1), want: ok(6, 60*sec)},
				{after: -aBit, do: charge(1), want: ok(5, aBit)},
				{after: aBit, do: look(1), want: ok(10, 0)},
			},
		},
		{
			name: "fixed_window/refusal_mends", limits: ten,
			wants: "a refusal writes the mend: who waits as told is let in",
			steps: []step{
				{after: 46 * sec, do: charge(10), want: ok(0, 60*sec)},
				{after: -2 * sec, do: charge(1), want: no(0, 2*sec, 2*sec)},
				{after: 2 * sec, do: charge(1), want: ok(9, 60*sec)},
			},
		},
		{
			name: "fixed_window/force_mends", limits: ten,
			wants: "a force writes the mend; a give-back counts from the mended window",
			steps: []step{
				{after: 46 * sec, do: charge(4), want: ok(6, 60*sec)},
				{after: -2 * sec, do: force(-1), want: ok(7, 2*sec)},
				{do: force(9), want: met(7, 2*sec)},
				{after: 2 * sec, do: look(10), want: ok(10, 0)},
			},
		},
	}
}
