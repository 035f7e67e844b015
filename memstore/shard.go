package memstore

import (
	"sync"
	"sync/atomic"
)

// shard is a part of the keys with a lock of its own. The table is read without
// the lock; the padding keeps it off the cache line that lockers write.
type shard struct {
	table atomic.Pointer[table]
	_     [120]byte

	mu      sync.Mutex
	live    int       // keys in the table
	deleted int       // deleted cells in the table
	buckets []*bucket // keys with other sets of windows
	_       [72]byte
}

// insert adds a key that is not in the table. The lock is held.
func (sh *shard) insert(f fingerprint, word uint64) {
	t := sh.table.Load()
	if (sh.live+sh.deleted+1)*4 > len(t.cells)*3 {
		t = sh.rebuild(t)
	}
	if t.put(f.hash, word) {
		sh.deleted--
	}
	sh.live++
}

// remove takes the key out of cell i of t, unless a hitter has changed it
// since word was read. The lock is held.
func (sh *shard) remove(t *table, i int, word uint64) bool {
	if !t.cells[i].word.CompareAndSwap(word, frozen) {
		return false
	}
	sh.live--
	sh.deleted += t.clear(i)
	return true
}

// shrink gives memory back once few of the cells are in use. The lock is held.
func (sh *shard) shrink() {
	if t := sh.table.Load(); len(t.cells) > minCells && sh.live*8 < len(t.cells) {
		sh.rebuild(t)
	}
}

// rebuild moves the keys to a table of the right size, without the deleted
// cells. Every word is frozen as it is read, so that no hitter's charge gets
// lost in the old table. The lock is held.
func (sh *shard) rebuild(t *table) *table {
	size := len(t.cells)
	switch {
	case (sh.live+1)*8 > size*5: // else it was the deleted cells that filled it
		size *= 2
	default:
		for sh.live*8 < size && size > minCells {
			size /= 2
		}
	}
	fresh := newTable(size)
	for i := range t.cells {
		c := &t.cells[i]
		if hash := c.hash.Load(); hash > deleted {
			fresh.put(hash, c.word.Swap(frozen))
		}
	}
	sh.deleted = 0
	sh.table.Store(fresh)
	return fresh
}
