package memstore

import (
	"math"
	"sync/atomic"
)

// cell is the bucket of one key that has a lone GCRA window: no pointer, so a
// million of them are nothing to the garbage collector, and the state lies
// beside its hash in one cache line.
//
// A hit is lock-free: find the hash, load the word, check the hash again,
// compare and swap. Everything that puts a key into a cell or takes it out
// holds the shard's mutex and keeps two orders: a new key's word is written
// before its hash, and a leaving key's word is frozen before its hash goes. So
// a late hitter's swap fails, and it goes to the lock.
type cell struct {
	hash atomic.Uint64 // empty, deleted, or the key's
	word atomic.Uint64 // see pack
}

const (
	empty   = uint64(0) // ends a probe
	deleted = uint64(1) // does not
)

// frozen marks the word of a cell whose key has left it. No bucket looks like
// this, because moments are bounded.
const frozen = uint64(1) << 63

// A word is tat<<7 | exhausted<<6 | tag. The tat has 57 bits of microseconds
// around 1970; the tag is 6 more bits of the key's hash.
const (
	tatShift     = 7
	exhaustedBit = uint64(1) << 6
	tagMask      = exhaustedBit - 1

	// Moments are held inside the years 314 before and 3968 after: room is left for the
	// longest debt above, and for the frozen mark below.
	minMoment = -int64(1)<<56 + 1
	maxMoment = int64(1)<<56 - int64(1)<<53
)

func pack(tat int64, exhausted bool, tag uint64) uint64 {
	w := uint64(tat)<<tatShift | tag
	if exhausted {
		w |= exhaustedBit
	}
	return w
}

// tatOf is when the bucket is full again, in microseconds since 1970.
func tatOf(word uint64) int64 { return int64(word) >> tatShift }

// clampMoment bounds what a clock may tell.
func clampMoment(us int64) int64 { return min(max(us, minMoment), maxMoment) }

// never is later than every moment.
const never = int64(math.MaxInt64)
