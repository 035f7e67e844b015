package duel

import "io"

// Target is a figure that was promised, and what came of it.
type Target struct {
	What    string
	Value   float64
	Bound   float64
	AtLeast bool // Value must reach Bound; else it must not exceed it
}

// Met tells whether the promise was kept.
func (t Target) Met() bool {
	if t.AtLeast {
		return t.Value >= t.Bound
	}
	return t.Value <= t.Bound
}

// WriteTargets prints a table of what was promised.
func WriteTargets(w io.Writer, targets []Target) error {
	t := Table{Head: []string{"target", "measured", "promised", "met"}}
	for _, g := range targets {
		promised, met := "at most "+Number(g.Bound), "no"
		if g.AtLeast {
			promised = "at least " + Number(g.Bound)
		}
		if g.Met() {
			met = "yes"
		}
		t.Add(g.What, Number(g.Value), promised, met)
	}
	return t.Write(w)
}
