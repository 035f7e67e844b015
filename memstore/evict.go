package memstore

// sampleSize is how many keys of each kind are looked at to find the one that
// goes when the store is full.
const sampleSize = 16

// candidate is a key that may have to go.
type candidate struct {
	expires   int64
	exhausted bool
	cell      int
	word      uint64
	bucket    *bucket // nil: the key is in cell
}

// before tells whether c should go sooner than o: an exhausted key after all
// others, because forgetting it would let its owner start fresh; then the one
// that is fresh again first, because forgetting it changes the least.
func (c *candidate) before(o *candidate) bool {
	if c.exhausted != o.exhausted {
		return o.exhausted
	}
	return c.expires < o.expires
}

// admit counts a new key in, and makes room for it. The lock of sh is held.
func (s *Store) admit(sh *shard, f fingerprint, now int64) {
	if s.keys.Add(1) <= s.maxKeys {
		return
	}
	for s.keys.Load() > s.maxKeys && s.evict(sh, f.extra>>8, now) {
	}
}

// evict removes a key of sh; the seed says where to look. It is false when sh
// has none, which a store so full can only come to by rare chance.
func (s *Store) evict(sh *shard, seed uint64, now int64) bool {
	for {
		var best candidate
		t := sh.table.Load()
		if !sh.sampleCells(t, seed, now, &best) && !sh.hasBuckets() {
			return false
		}
		sh.sampleBuckets(seed, now, &best)
		if best.bucket != nil {
			s.removeBucket(sh, best.bucket)
		} else if !sh.remove(t, best.cell, best.word) {
			continue // a hitter has just charged it
		}
		s.keys.Add(-1)
		if best.expires > now {
			s.evicted.Add(1)
		}
		return true
	}
}

func (sh *shard) hasBuckets() bool { return len(sh.buckets) > 0 }

// sampleCells puts the first to go of some cells into best; it is false when
// there is none.
func (sh *shard) sampleCells(t *table, seed uint64, now int64, best *candidate) bool {
	seen := 0
	for k := 0; k < len(t.cells) && seen < sampleSize && sh.live > 0; k++ {
		i := (seed + uint64(k)) & t.mask
		c := &t.cells[i]
		if c.hash.Load() <= deleted {
			continue
		}
		w := c.word.Load()
		next := candidate{expires: tatOf(w), exhausted: w&exhaustedBit != 0 && tatOf(w) > clampMoment(now), cell: int(i), word: w}
		if seen == 0 || next.before(best) {
			*best = next
		}
		seen++
	}
	return seen > 0
}

// sampleBuckets lets some buckets compete with best.
func (sh *shard) sampleBuckets(seed uint64, now int64, best *candidate) {
	none := sh.live == 0
	sampled := min(len(sh.buckets), sampleSize)
	for k := range sampled {
		// Neighbours came at about the same time, so they are alike: spread.
		b := sh.buckets[(seed+uint64(k*len(sh.buckets)/sampled))%uint64(len(sh.buckets))]
		b.mu.Lock()
		next := candidate{expires: b.expires(), bucket: b}
		next.exhausted = b.exhausted && next.expires > now
		b.mu.Unlock()
		if none || next.before(best) {
			*best = next
			none = false
		}
	}
}

// removeBucket takes b out of the store. The lock of sh, its shard, is held.
func (s *Store) removeBucket(sh *shard, b *bucket) {
	b.mu.Lock()
	b.gone = true
	b.mu.Unlock()
	s.buckets.Delete(b.key)
	last := len(sh.buckets) - 1
	moved := sh.buckets[last]
	sh.buckets[b.index], moved.index = moved, b.index
	sh.buckets[last] = nil
	sh.buckets = sh.buckets[:last]
	if moved != b {
		s.sweeper.expectBucket(moved) // it may have moved behind the sweep
	}
}
