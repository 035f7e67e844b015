package storetest_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// naiveStore is written from the contract alone, without core.Apply, as simple
// as can be: a log holds one entry a unit. Its faults are off unless a test
// turns one on.
type naiveStore struct {
	faults

	clock   core.Clock
	mu      sync.Mutex
	buckets map[bucket][]*cell
	kept    map[bucket][]core.Limit
}

// faults are ways to be no store, after three ways to be one nevertheless.
type faults struct {
	forgetful   bool // allowed: a bucket that has run out is forgotten at once
	unsupported bool // allowed: knows a single GCRA window only
	prepares    bool // allowed: is a core.Preparer

	notAtomic         bool // judges, lets others in, then charges
	forgetsScope      bool
	forgetsAnonymous  bool
	joinsTierAndID    bool
	cutsIDs           bool // to 256 bytes
	setByCount        bool // a changed count is another bucket
	setByOrder        bool // another order is another bucket
	oneSet            bool // every set of windows is the same bucket
	chargesSome       bool // those windows that the cost fits, though another refuses
	lookWrites        bool
	refusalConsumes   bool // what was left
	refusalCounts     bool // in fixed windows, beyond the count
	refusalPushes     bool // the tat, beyond the burst
	givesBeyondFull   bool
	noMendOnRefusal   bool
	mendOfRefuserOnly bool
	noMend            bool
	lookMends         bool
	noJitter          bool // every step back is mended
	floorsT           bool
	logLeavesLate     bool // by 1 µs
	logLeavesEarly    bool
	logUnordered      bool // entries are logged at now, whatever stands there
	resetPlainOnly    bool
	resetSpares       bool // the plain bucket
	resetTier         bool // every id of the tier
	keepsLimits       bool // those of the first request
	sortsLimits       bool // in the caller's slice
	forceRefuses      bool // takes nothing when not all fits
	forceAll          bool // takes everything, fit or not
	chargedIsCost     bool // also where Force met less
	chargedIsMost     bool // the most of the windows, not the least
	zeroNeedsRoom     bool // refuses a cost of 0 on an empty bucket
	resetOldest       bool // ResetAfter of a log is when its oldest entry leaves
	retryOnFit        bool // every level of a refusal has the longest wait
	hoarding          bool // a charge keeps log entries that have left
	windowAtFirstUse  bool // fixed windows begin with the first request
	wrongNow          bool
	unsupportedGCRA   bool

	preparesForOthers        bool
	preparedForgetsScope     bool
	preparedForgetsTier      bool
	preparedForgetsAnonymous bool
	preparedKeepsFirstKey    bool // and charges it for all others
	preparedChargesOne       bool // whatever the cost
	preparedWrongNow         bool
}

func newNaiveStore(clock core.Clock, f faults) *naiveStore {
	return &naiveStore{clock: clock, faults: f, buckets: map[bucket][]*cell{}, kept: map[bucket][]core.Limit{}}
}

// cell is one window's state; all times are µs since 1970.
type cell struct {
	faults

	limit core.Limit
	tat   int64
	start int64
	used  int64
	log   []int64
}

func (s *naiveStore) name(key core.Key, limits []core.Limit) bucket {
	if s.forgetsScope {
		key.Scope = ""
	}
	if s.forgetsAnonymous {
		key.Anonymous = false
	}
	if s.joinsTierAndID {
		key.Tier, key.ID = "", key.Tier+":"+key.ID
	}
	if s.cutsIDs {
		key.ID = key.ID[:min(len(key.ID), 256)]
	}
	set := setOf(limits)
	if s.setByCount {
		set += string(rune(limits[0].Count + limits[len(limits)-1].Count))
	}
	if s.setByOrder && len(limits) > 1 {
		set += limits[0].Algorithm.String() + limits[0].Window.String()
	}
	if s.oneSet {
		set = ""
	}
	return bucket{key, set}
}

func (s *naiveStore) Reset(_ context.Context, key core.Key, limits []core.Limit) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.resetPlainOnly {
		delete(s.buckets, s.name(key, limits))
	}
	if !s.resetSpares {
		delete(s.buckets, s.name(key, []core.Limit{{}}))
	}
	for b := range s.buckets {
		if s.resetTier && b.key.Tier == key.Tier {
			delete(s.buckets, b)
		}
	}
	return nil
}

func (s *naiveStore) Take(_ context.Context, r core.Request) (core.Result, error) {
	plain := len(r.Limits) == 1 && r.Limits[0].Algorithm == core.GCRA
	if s.unsupported && !plain || s.unsupportedGCRA && plain {
		return core.Result{}, core.ErrUnsupported
	}
	if s.notAtomic && r.Mode == core.Charge {
		judged := r
		judged.Mode = core.Look
		res := s.locked(judged)
		runtime.Gosched()
		if !res.Allowed {
			return s.locked(judged), nil
		}
		r.Mode = core.Force
	}
	return s.locked(r), nil
}

func (s *naiveStore) locked(r core.Request) core.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sortsLimits {
		slices.SortFunc(r.Limits, func(a, b core.Limit) int { return int(a.Window - b.Window) })
	}
	name := s.name(r.Key, r.Limits)
	if s.keepsLimits {
		if s.kept[name] == nil {
			s.kept[name] = r.Limits
		}
		r.Limits = s.kept[name]
	}
	clock := s.clock.Now()
	now := clock.UnixMicro()
	if s.forgetful {
		s.sweep(now)
	}
	cells := s.open(name, r.Limits)
	if s.lookWrites && r.Mode == core.Look {
		r.Mode = core.Charge
	}
	res := s.apply(cells, now, r)
	res.Now = clock
	if s.wrongNow {
		res.Now = time.Now()
	}
	return res
}

// open gives a cell for every limit, in the order of the limits.
func (s *naiveStore) open(name bucket, limits []core.Limit) []*cell {
	cells := make([]*cell, len(limits))
	stored := s.buckets[name]
	for i, l := range limits {
		at := slices.IndexFunc(stored, func(c *cell) bool {
			return c.limit.Algorithm == l.Algorithm && (c.limit.Window == l.Window || name.set == "" && !s.oneSet)
		})
		if at < 0 {
			s.buckets[name] = append(s.buckets[name], &cell{faults: s.faults})
			stored = s.buckets[name]
			at = len(stored) - 1
		}
		cells[i] = stored[at]
		cells[i].limit = l
	}
	return cells
}

// sweep forgets every bucket that has run out.
func (s *naiveStore) sweep(now int64) {
	for name, cells := range s.buckets {
		if !slices.ContainsFunc(cells, func(c *cell) bool { return c.holds(now) }) {
			delete(s.buckets, name)
		}
	}
}
