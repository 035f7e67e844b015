package core

import "sort"

// logEntry is when units were spent, and the running total once they were.
type logEntry struct{ at, end int64 }

// unitLog is a ring of entries, oldest first, in the order of their times.
// Running totals instead of units let a search find the entry with which a
// given number of units has left.
type unitLog struct {
	ring []logEntry // its length is a power of two, or 0
	head int
	n    int
	base int64 // the running total before the oldest entry
}

// rebaseAt keeps running totals far from the end of an int64.
const rebaseAt = int64(1) << 60

func (u *unitLog) at(i int) *logEntry { return &u.ring[(u.head+i)&(len(u.ring)-1)] }
func (u *unitLog) last() *logEntry    { return u.at(u.n - 1) }

// before is the running total before entry i.
func (u *unitLog) before(i int) int64 {
	if i == 0 {
		return u.base
	}
	return u.at(i - 1).end
}

// after is the index of the first entry later than t; n when there is none.
func (u *unitLog) after(t int64) int {
	return sort.Search(u.n, func(i int) bool { return u.at(i).at > t })
}

// reaching is the index of the first entry whose running total is at least end.
func (u *unitLog) reaching(end int64) int {
	return sort.Search(u.n, func(i int) bool { return u.at(i).end >= end })
}

// push appends units spent at t, not before the last entry.
func (u *unitLog) push(t, units int64) {
	if u.n == 0 {
		u.base = 0
	} else if last := u.last(); last.at == t {
		last.end += units
		return
	}
	end := u.before(u.n) + units
	if u.n == len(u.ring) {
		u.grow()
	}
	u.n++
	*u.last() = logEntry{at: t, end: end}
	if end > rebaseAt {
		u.rebase()
	}
}

// pop removes the newest entry and returns its units.
func (u *unitLog) pop() int64 {
	units := u.last().end - u.before(u.n-1)
	u.n--
	return units
}

// drop removes the k oldest entries.
func (u *unitLog) drop(k int) {
	if k == 0 {
		return
	}
	u.base = u.before(k)
	u.head = (u.head + k) & (len(u.ring) - 1)
	u.n -= k
}

// shrink takes units away from the newest entries, at most what is there.
func (u *unitLog) shrink(units int64) {
	for units > 0 {
		held := u.last().end - u.before(u.n-1)
		if held > units {
			u.last().end -= units
			return
		}
		u.n--
		units -= held
	}
}

func (u *unitLog) grow() {
	ring := make([]logEntry, max(2*len(u.ring), 4))
	for i := range u.n {
		ring[i] = *u.at(i)
	}
	u.ring, u.head = ring, 0
}

func (u *unitLog) rebase() {
	for i := range u.n {
		u.at(i).end -= u.base
	}
	u.base = 0
}
