package record

import (
	"math"
	"net/http"

	"github.com/tierlimit/tierlimit/core"
)

// hide takes the headers away that stand, before the decision behind them
// changes. Which ones they are only the function that wrote them knows.
func (r *Record) hide(h http.Header) {
	for m := range r.meetings {
		if !m.shown {
			continue
		}
		written := http.Header{}
		m.Headers(written, m.Decision)
		for name := range written {
			delete(h, name)
		}
		m.shown = false
	}
}

// show writes the headers of the strictest decision: refused before allowed,
// then the least remaining, then the earlier.
func (r *Record) show(h http.Header) {
	var strictest *Meeting
	for m := range r.meetings {
		if strictest == nil || room(m) < room(strictest) {
			strictest = m
		}
	}
	if strictest != nil { // a request that was only skipped has no decision
		strictest.shown = true
		strictest.Headers(h, strictest.Decision)
	}
}

// room ranks decisions by strictness. The least strict are those that no window
// was judged for, and those of a limiter that was told to write no headers: it
// must not keep another's away.
func room(m *Meeting) int {
	switch d := &m.Decision; {
	case !d.Allowed():
		return -1
	case d.Outcome == core.Allowed && d.Enforced() && m.writes():
		return d.Level.Remaining
	default:
		return math.MaxInt
	}
}

func (m *Meeting) writes() bool {
	written := http.Header{}
	m.Headers(written, m.Decision)
	return len(written) > 0
}
