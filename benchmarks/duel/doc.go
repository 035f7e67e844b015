// Package duel times candidates against each other on a machine that is not
// quiet: in every round each of them runs for a few milliseconds, in random
// order, and what counts is the ratio within the round.
//
//	rows := duel.Race(duel.Options{Rounds: 31},
//		duel.Candidate{Name: "ours", Run: func(n int) { ... }},
//		duel.Candidate{Name: "theirs", Run: func(n int) { ... }})
//	err := duel.Write(os.Stdout, rows)
//
// It does not pin threads, nor stop the collector: what a candidate costs the
// collector is part of its price, though some of it falls on its neighbours.
package duel
