package memstore

import (
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/puzpuzpuz/xsync/v4"

	"github.com/tierlimit/tierlimit/core"
)

// Store keeps buckets in this process. It is made by [New], is safe for
// concurrent use, and must not be copied. It never returns an error and
// supports every algorithm and set of windows.
type Store struct {
	timekeeper

	seedA, seedB maphash.Seed
	maxKeys      int64
	shards       []shard
	shift        uint // fingerprint.extra >> shift is the shard
	buckets      *xsync.Map[fingerprint, *bucket]
	rates        rates

	_       [64]byte // what follows is written while others hit
	keys    atomic.Int64
	evicted atomic.Int64
	sweeper sweeper
}

var _ core.Store = (*Store)(nil)

// New makes an empty store.
func New(opts ...Option) *Store {
	s := &Store{maxKeys: DefaultMaxKeys, seedA: maphash.MakeSeed(), seedB: maphash.MakeSeed()}
	for i, o := range opts {
		if o == nil {
			panic(fmt.Sprintf("memstore: option %d is nil", i+1)) //nolint:forbidigo // wiring fault, at start-up
		}
		o(s)
	}
	// Fewer keys need fewer shards: the sample for an eviction is taken in one.
	count := 1
	for count < 256 && int64(count)*2*1024 <= s.maxKeys {
		count *= 2
	}
	s.shards = make([]shard, count)
	for i := range s.shards {
		s.shards[i].table.Store(newTable(minCells))
	}
	s.shift = uint(64 - bits.TrailingZeros(uint(count)))
	s.buckets = xsync.NewMap[fingerprint, *bucket]()
	s.begin()
	s.sweeper.begin()
	return s
}

// Len is how many keys the store holds, those included that have run out and
// were not dropped yet.
func (s *Store) Len() int { return int(min(s.keys.Load(), s.maxKeys)) }

// Evicted is how many keys had to go before they had run out, because the
// store was full, since it was made.
func (s *Store) Evicted() int { return int(min(s.evicted.Load(), math.MaxInt)) }

// Take does r in one atomic step; see [core.Store]. It ignores ctx, because it
// never waits. Result.Now is the clock's time.
func (s *Store) Take(_ context.Context, r core.Request) (res core.Result, err error) {
	now, shown := s.now()
	f := s.fingerprint(&r.Key)
	if len(r.Limits) == 1 && r.Limits[0].Algorithm == core.GCRA {
		s.takeCell(f, clampMoment(now), &r, &res)
	} else {
		res = s.takeBucket(f.withSet(r.Limits), now, &r)
	}
	res.Now = shown
	s.sweep(now)
	return res, nil
}

// Reset forgets key under these limits, and its plain bucket; see [core.Store].
func (s *Store) Reset(_ context.Context, key core.Key, limits []core.Limit) error {
	f := s.fingerprint(&key)
	s.resetCell(f)
	s.resetBucket(f.withSet(limits))
	return nil
}

func (s *Store) resetCell(f fingerprint) {
	sh := s.shard(f)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	t := sh.table.Load()
	for i, w := t.find(f); i >= 0; i, w = t.find(f) {
		if sh.remove(t, i, w) {
			s.keys.Add(-1)
		}
	}
}

func (s *Store) resetBucket(f fingerprint) {
	sh := s.shard(f)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if b, ok := s.buckets.Load(f); ok {
		s.removeBucket(sh, b)
		s.keys.Add(-1)
	}
}

func (s *Store) shard(f fingerprint) *shard {
	return &s.shards[f.extra>>s.shift]
}

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

// takeBucket does r to any other set of windows.
func (s *Store) takeBucket(f fingerprint, now int64, r *core.Request) core.Result {
	for {
		b, ok := s.buckets.Load(f)
		if !ok {
			if res, done := s.takeNewBucket(f, now, r); done {
				return res
			}
			continue
		}
		if res, ok := b.apply(now, r, &s.sweeper); ok {
			return res
		}
	}
}

// takeNewBucket does r to a fresh bucket and keeps it if anything stays. It is
// not done when the bucket turns out to be there.
func (s *Store) takeNewBucket(f fingerprint, now int64, r *core.Request) (core.Result, bool) {
	sh := s.shard(f)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if _, ok := s.buckets.Load(f); ok {
		return core.Result{}, false
	}
	b := &bucket{key: f}
	res := b.do(now, r)
	if expires := b.expires(); expires > now {
		s.admit(sh, f, now)
		b.index = len(sh.buckets)
		s.buckets.Store(f, b)
		sh.buckets = append(sh.buckets, b)
		s.sweeper.expect(expires)
	}
	return res, true
}
