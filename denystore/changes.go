package denystore

import "sync/atomic"

// changes count what was done by one of the keys that share them: charges in
// the lower half, and in the upper half what may have made room. Who asks
// compares them before and after, because an answer may be overtaken.
type changes struct{ n atomic.Uint64 }

// tally is what changes stood at.
type tally uint64

const (
	charge tally = 1
	room   tally = 1 << 32
)

func (c *changes) now() tally { return tally(c.n.Load()) }

// add notes one change and tells what stands then.
func (c *changes) add(one tally) tally { return tally(c.n.Add(uint64(one))) }

// madeRoom tells whether room may have been made between t and a later tally.
func (t tally) madeRoom(later tally) bool { return t/room != later/room }
