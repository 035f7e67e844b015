package record

import "sync/atomic"

// marks are what happens to a record once, whoever is first. The zero marks are
// none; they are safe for concurrent use.
type marks struct{ bits atomic.Uint32 }

const (
	owned   uint32 = 1 << iota // somebody settles when the handlers are done
	settled                    // a price that comes now is too late
	watched                    // somebody notes the status
)

// set is true for the first who sets mark.
func (m *marks) set(mark uint32) bool { return m.bits.Or(mark)&mark == 0 }

func (m *marks) has(mark uint32) bool { return m.bits.Load()&mark != 0 }
