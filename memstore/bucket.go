package memstore

import (
	"math"
	"sync"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// bucket is the state of one key under any other set of windows than a lone
// GCRA one. Its own mutex guards it, so keys do not wait for each other; a
// shard's lock may be held while it is taken, never the other way round.
type bucket struct {
	key   fingerprint
	index int // in the buckets of its shard, under the shard's lock

	mu        sync.Mutex
	state     core.State
	exhausted bool // some window had not one unit left at the last change
	gone      bool // no longer in the store: look again
}

// apply does r, and tells w when the bucket runs out sooner than before. It is
// false when the bucket has left the store meanwhile.
func (b *bucket) apply(now int64, r *core.Request, w *sweeper) (core.Result, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone {
		return core.Result{}, false
	}
	was := b.expires()
	res := b.do(now, r)
	if expires := b.expires(); expires < was {
		w.expect(expires)
	}
	return res, true
}

func (b *bucket) do(now int64, r *core.Request) core.Result {
	res := core.Apply(&b.state, time.UnixMicro(now), *r)
	if r.Mode == core.Force || r.Mode == core.Charge && res.Charged > 0 {
		b.exhausted = false
		for i := range r.Limits[:min(len(r.Limits), core.MaxLimits)] {
			b.exhausted = b.exhausted || res.Levels[i].Remaining == 0
		}
	}
	return res
}

// expires is when the bucket is as good as fresh, in µs since 1970.
func (b *bucket) expires() int64 {
	t := b.state.Expires()
	if t.IsZero() {
		return math.MinInt64
	}
	return t.UnixMicro()
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
