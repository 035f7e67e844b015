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
