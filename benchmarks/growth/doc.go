// Package growth measures how the cost of a check grows with what the library
// holds: keys, windows a plan, tiers, and units in a sliding log.
//
//	curves := growth.Measure(duel.Options{})
//	err := curves.Write(os.Stdout)
//	err = curves.Chart().SVG(file)
//
// The sizes race each other as rivals do elsewhere, so that a noisy moment hits
// all of them.
package growth
