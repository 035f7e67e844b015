package denystore

import "sync/atomic"

// cells hold the refusals. Which of a few cells is a key's follows from its
// hash; a new refusal takes the place of an old one.
type cells struct {
	rows int // a power of two
	all  []atomic.Pointer[refusal]
}

// ways is in how many cells one key may lie, so that two callers who hammer do
// not push each other out.
const ways = 4

func newCells(n int) cells {
	return cells{rows: n / ways, all: make([]atomic.Pointer[refusal], n)}
}

// row is the cells in which who may lie.
func (c *cells) row(who fingerprint) []atomic.Pointer[refusal] {
	first := (int(who.b) & (c.rows - 1)) * ways //nolint:gosec // only the lowest bits count
	return c.all[first : first+ways]
}

func (c *cells) find(who fingerprint) *refusal {
	row := c.row(who)
	for i := range row {
		if d := row[i].Load(); d != nil && d.who == who {
			return d
		}
	}
	return nil
}

// keep puts d into the cell of its key, else into an empty one, else into that
// of the refusal which is needed least.
func (c *cells) keep(d *refusal) {
	row := c.row(d.who)
	best := 0
	for i := range row {
		o := row[i].Load()
		if o == nil || o.who == d.who {
			best = i
			if o != nil {
				break
			}
		} else if b := row[best].Load(); b != nil && o.lasts() < b.lasts() {
			best = i
		}
	}
	row[best].Store(d)
}

// swap puts next, nil for nothing, in the place of d, unless d is no longer
// there.
func (c *cells) swap(d, next *refusal) bool {
	row := c.row(d.who)
	for i := range row {
		if row[i].Load() == d {
			return row[i].CompareAndSwap(d, next)
		}
	}
	return false
}

func (c *cells) forget(who fingerprint) {
	row := c.row(who)
	for i := range row {
		if d := row[i].Load(); d != nil && d.who == who {
			row[i].CompareAndSwap(d, nil)
		}
	}
}
