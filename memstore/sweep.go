package memstore

import (
	"sync"
	"sync/atomic"
)

// sweepBudget is how many further cells one check visits at most.
const sweepBudget = 16

// quiet is a time between two checks that tells nothing of how long a round
// takes: 1 ms.
const quiet = 1000

// sweeper drops what has run out. It goes round all shards, a few cells a
// check, and rests while nothing can have run out: a check then only reads one
// number.
type sweeper struct {
	earliest atomic.Int64 // nothing runs out before
	_        [56]byte

	// soonest is the earliest expiry of what this round has left behind and of
	// what was added since it began: the next round's earliest.
	soonest atomic.Int64

	mu    sync.Mutex
	shard int
	table *table // of the shard that the round stands in
	cell  int    // where in it; behind the cells follow the buckets
	last  int64  // when a check swept last
	took  int64  // how long the round has taken so far, quiet times aside
}

func (w *sweeper) begin() {
	w.earliest.Store(never)
	w.soonest.Store(never)
}

// expect notes that something runs out at moment t. The order of the two
// matters, see finish.
func (w *sweeper) expect(t int64) {
	lower(&w.soonest, t)
	lower(&w.earliest, t)
}

// expectBucket notes when b runs out.
func (w *sweeper) expectBucket(b *bucket) {
	b.mu.Lock()
	t := b.expires()
	b.mu.Unlock()
	w.expect(t)
}

func lower(v *atomic.Int64, t int64) {
	for was := v.Load(); t < was && !v.CompareAndSwap(was, t); was = v.Load() {
	}
}

// sweep visits a few cells when something may have run out.
func (s *Store) sweep(now int64) {
	if now >= s.sweeper.earliest.Load() {
		s.sweepSome(now)
	}
}

// sweepSome never waits for a lock: whoever holds one is at work there.
func (s *Store) sweepSome(now int64) {
	w := &s.sweeper
	if !w.mu.TryLock() {
		return
	}
	defer w.mu.Unlock()
	if gap := now - w.last; gap > 0 && gap < quiet {
		w.took += gap
	}
	w.last = now
	for budget := sweepBudget; budget > 0; {
		sh := &s.shards[w.shard]
		if !sh.mu.TryLock() {
			return
		}
		visited, done := s.sweepShard(sh, now, budget)
		sh.mu.Unlock()
		budget -= visited
		if !done {
			return
		}
		w.shard, w.table, w.cell = w.shard+1, nil, 0
		if w.shard == len(s.shards) {
			w.finish(now)
			return
		}
	}
}

// sweepShard visits at most budget places of sh, from where the round stands.
// Both locks are held.
func (s *Store) sweepShard(sh *shard, now int64, budget int) (visited int, done bool) {
	w := &s.sweeper
	t := sh.table.Load()
	if w.table != t {
		w.table, w.cell = t, 0 // new here, or the keys were moved
	}
	for ; visited < budget && w.cell < len(t.cells); visited++ {
		if s.sweepCell(sh, t, w.cell, now) {
			w.cell++
		}
	}
	for ; visited < budget && w.cell < len(t.cells)+len(sh.buckets); visited++ {
		if s.sweepBucket(sh, sh.buckets[w.cell-len(t.cells)], now) {
			w.cell++
		}
	}
	if w.cell < len(t.cells)+len(sh.buckets) {
		return visited, false
	}
	sh.shrink()
	return visited, true
}

// sweepCell drops the key of cell i if it has run out. It is false when the
// cell has to be looked at again.
func (s *Store) sweepCell(sh *shard, t *table, i int, now int64) bool {
	c := &t.cells[i]
	if c.hash.Load() <= deleted {
		return true
	}
	word := c.word.Load()
	if tatOf(word) > clampMoment(now) {
		lower(&s.sweeper.soonest, tatOf(word))
		return true
	}
	if !sh.remove(t, i, word) {
		return false // a hitter has just charged it
	}
	s.keys.Add(-1)
	return true
}

// sweepBucket drops b if it has run out. It is false when another bucket has
// taken its place.
func (s *Store) sweepBucket(sh *shard, b *bucket, now int64) bool {
	b.mu.Lock()
	expires := b.expires()
	b.gone = expires <= now
	b.mu.Unlock()
	if expires > now {
		lower(&s.sweeper.soonest, expires)
		return true
	}
	s.removeBucket(sh, b)
	s.keys.Add(-1)
	return false
}

// finish ends a round. The next one begins when something can have run out
// again, and not before as much time has passed as this one took: where keys
// run out all the time, at most half of the checks sweep.
func (w *sweeper) finish(now int64) {
	w.shard = 0
	took := w.took
	w.took = 0
	next := w.soonest.Swap(never)
	if next != never {
		next = max(next, now+took)
	}
	w.earliest.Store(next)
	// Whoever lowered soonest since the swap may have lowered earliest before
	// the store; it is lowered again.
	lower(&w.earliest, w.soonest.Load())
}
