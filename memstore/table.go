package memstore

// table is an open-addressing hash table of cells, with linear probing. There
// is always an empty cell, so every probe ends.
type table struct {
	cells []cell
	mask  uint64
}

const minCells = 8

func newTable(cells int) *table {
	return &table{cells: make([]cell, cells), mask: uint64(cells - 1)}
}

// find returns the place of f and its word; -1 when f is not here, or was just
// moved or taken away: then only the lock can tell.
func (t *table) find(f fingerprint) (int, uint64) {
	for i := f.hash & t.mask; ; i = (i + 1) & t.mask {
		c := &t.cells[i]
		switch c.hash.Load() {
		case f.hash:
			w := c.word.Load()
			if w == frozen {
				return -1, 0
			}
			// The hash is read again: between the two reads the cell may have
			// passed to another key.
			if w&tagMask == f.tag() && c.hash.Load() == f.hash {
				return int(i), w
			}
		case empty:
			return -1, 0
		}
	}
}

// put writes a key that is not here into the first cell that has room, and
// tells whether that one was a deleted one's. Only the shard's lock holder may
// call it.
func (t *table) put(hash, word uint64) (reused bool) {
	for i := hash & t.mask; ; i = (i + 1) & t.mask {
		c := &t.cells[i]
		if was := c.hash.Load(); was <= deleted {
			c.word.Store(word)
			c.hash.Store(hash)
			return was == deleted
		}
	}
}

// clear takes the key out of cell i, whose word is frozen, and returns by how
// many the deleted cells have grown: a cell before an empty one, and the
// deleted ones before it, end a probe just as well.
func (t *table) clear(i int) (grown int) {
	at := uint64(i)
	if t.cells[(at+1)&t.mask].hash.Load() != empty {
		t.cells[at].hash.Store(deleted)
		return 1
	}
	t.cells[at].hash.Store(empty)
	for {
		at = (at - 1) & t.mask
		if t.cells[at].hash.Load() != deleted {
			return grown
		}
		t.cells[at].hash.Store(empty)
		grown--
	}
}
