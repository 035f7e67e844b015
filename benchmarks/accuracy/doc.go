// Package accuracy counts what the in-process limiters admit against what they
// should: of a burst, across the edge of a window, under 64 goroutines that
// never rest, and while a million keys run out.
//
//	err := accuracy.Tables(duel.Options{}, os.Stdout)
//
// Those that take a clock are given one; the others wait in real time. What is
// counted as admitted within a window was so for certain: the first was asked
// for and the last was answered within its length.
package accuracy
