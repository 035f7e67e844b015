package memstore

import "github.com/tierlimit/tierlimit/core"

// takeCell does r to a lone GCRA window. It answers in place: a Result is large
// beside what else happens here.
func (s *Store) takeCell(f fingerprint, now int64, r *core.Request, res *core.Result) {
	rate := s.rates.of(&r.Limits[0])
	if r.Mode == core.Charge {
		if tat, wait, usual := s.charge(f, now, int64(r.Cost), &rate); usual {
			if res.Allowed = wait == 0; res.Allowed {
				res.Charged = r.Cost
			}
			res.Levels[0] = rate.level(now, tat, wait)
			return
		}
	}
	s.takeAny(f, now, r, &rate, res)
}

// charge is takeCell for the usual request, a charge above 0 to a known key: the
// tat that stands afterwards, and how long the cost has to wait, 0 when it was
// charged. Where more has to be looked at nothing was done.
func (s *Store) charge(f fingerprint, now, cost int64, rate *rate) (tat, wait int64, usual bool) {
	for {
		t := s.shard(f).table.Load()
		i, w := t.find(f)
		if i < 0 {
			return 0, 0, false
		}
		next, usual := rate.charge(now, tatOf(w), cost)
		if !usual {
			return 0, 0, false
		}
		if wait := next - now - rate.tau; wait > 0 {
			return next - rate.step*cost, wait, true
		}
		if t.cells[i].word.CompareAndSwap(w, pack(next, rate.exhausted(next, now), w&tagMask)) {
			return next, 0, true
		}
	}
}

// takeAny is takeCell for whatever may come.
func (s *Store) takeAny(f fingerprint, now int64, r *core.Request, rate *rate, res *core.Result) {
	sh := s.shard(f)
	for read := false; ; {
		t := sh.table.Load()
		i, w := t.find(f)
		if i < 0 {
			s.takeUnknown(sh, f, rate, now, r, res)
			return
		}
		v := rate.judge(now, tatOf(w), int64(r.Cost), r.Mode)
		if v.mended && !read {
			// The clock was set back, or this goroutine has slept since it read it.
			now, _ = s.now()
			now, read = clampMoment(now), true
			continue
		}
		if s.write(&t.cells[i], w, rate, &v, now) {
			rate.answer(&v, now, res)
			return
		}
	}
}

// write swaps the verdict into the cell; it is false when another was faster.
func (s *Store) write(c *cell, was uint64, rate *rate, v *verdict, now int64) bool {
	if !v.write {
		return true
	}
	if !c.word.CompareAndSwap(was, pack(v.tat, rate.exhausted(v.tat, now), was&tagMask)) {
		return false
	}
	if v.tat < tatOf(was) {
		s.sweeper.expect(v.tat)
	}
	return true
}

// takeUnknown does r to a key that no hitter found, under the shard's lock.
func (s *Store) takeUnknown(sh *shard, f fingerprint, rate *rate, now int64, r *core.Request, res *core.Result) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	t := sh.table.Load()
	for i, w := t.find(f); i >= 0; i, w = t.find(f) {
		// It was moved. Hitters run beside the lock, so this swaps as they do.
		v := rate.judge(now, tatOf(w), int64(r.Cost), r.Mode)
		if s.write(&t.cells[i], w, rate, &v, now) {
			rate.answer(&v, now, res)
			return
		}
	}
	v := rate.judge(now, now, int64(r.Cost), r.Mode)
	if v.write && v.tat > now {
		s.admit(sh, f, now)
		sh.insert(f, pack(v.tat, rate.exhausted(v.tat, now), f.tag()))
		s.sweeper.expect(v.tat)
	}
	rate.answer(&v, now, res)
}
