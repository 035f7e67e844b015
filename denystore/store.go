package denystore

import (
	"context"
	"math/bits"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// Store answers repeated refusals from memory. It is made by [New] and safe for
// concurrent use. On requests that pass it adds a hash, the time and the look at
// four cells, and allocates nothing.
type Store struct {
	next   core.Store
	maxAge time.Duration
	clock  core.Clock // nil: this machine's
	base   time.Time
	seeds  seeds
	cells  cells

	changes [1 << 10]changes // by who
}

var _ core.Store = (*Store)(nil)

// New makes a store that asks next, and answers what next has refused. It
// panics when next is nil.
func New(next core.Store, opts ...Option) *Store {
	if next == nil {
		panic("denystore: New needs a store") //nolint:forbidigo // wiring fault, at start-up
	}
	o := options{maxAge: time.Second, maxKeys: 1 << 16}
	for _, set := range opts {
		set(&o)
	}
	s := &Store{
		next: next, maxAge: o.maxAge, clock: o.clock, seeds: newSeeds(),
		cells: newCells(max(1<<bits.Len(uint(o.maxKeys-1)), ways)),
	}
	s.base = s.time()
	return s
}

// Take does r in the next store, or refuses it from memory; see [core.Store].
// Errors are the next store's. Result.Now is zero for what comes from memory.
func (s *Store) Take(ctx context.Context, r core.Request) (core.Result, error) {
	switch {
	case r.Mode == core.Force:
		return s.correct(ctx, r)
	case r.Mode != core.Charge, r.Cost <= 0, r.Degraded:
		return s.next.Take(ctx, r) //nolint:wrapcheck // a decorator hands on
	}
	q := question{who: s.seeds.of(&r.Key)}
	for {
		q.known = s.cells.find(q.who)
		if q.known == nil || !q.known.covers(&r) {
			return s.ask(ctx, q, r)
		}
		now := s.now()
		switch q.known.judge(r.Cost, now, s.maxAge) {
		case refused:
			return q.known.result(&r, now), nil
		case fitting:
			q.claim = q.known.claim(r.Cost, now, s.maxAge)
			if !s.cells.swap(q.known, q.claim) {
				q.claim = nil
				continue // another was faster
			}
			q.claim.open.Add(1)
		case aged:
			q.aged = true
		case unknown:
		}
		return s.ask(ctx, q, r)
	}
}

// correct does what may make room, and forgets what it makes untrue. The
// give-back of a refused Raise often makes too little for what was refused.
func (s *Store) correct(ctx context.Context, r core.Request) (core.Result, error) {
	who := s.seeds.of(&r.Key)
	changes := s.changesOf(who)
	first, asked := changes.now(), s.now()
	returned := false
	defer func() {
		if !returned { // next panicked, perhaps after it had given back
			s.forget(who)
		}
	}()
	res, err := s.next.Take(ctx, r)
	returned = true
	alone := changes.add(room) == first+room
	d := s.cells.find(who)
	if d == nil {
		return res, err //nolint:wrapcheck // a decorator hands on
	}
	var next *refusal
	if r.Undo && err == nil && alone && d.under(&r) && !res.Degraded {
		next = d.after(answer{&res.Levels, asked, s.now()}, s.maxAge)
	}
	if next == nil || !s.cells.swap(d, next) {
		s.cells.forget(who)
	}
	return res, err //nolint:wrapcheck // a decorator hands on
}

// Reset forgets key here and in the next store; see [core.Store].
func (s *Store) Reset(ctx context.Context, key core.Key, limits []core.Limit) error {
	defer s.forget(s.seeds.of(&key))
	return s.next.Reset(ctx, key, limits) //nolint:wrapcheck // a decorator hands on
}

// forget has nothing be known of who, for whom there may be more room by now;
// neither what is on its way.
func (s *Store) forget(who fingerprint) {
	s.changesOf(who).add(room)
	s.cells.forget(who)
}

func (s *Store) changesOf(who fingerprint) *changes {
	return &s.changes[who.a%uint64(len(s.changes))]
}

// now is the time since the store was made, in whole microseconds as stores
// count.
func (s *Store) now() time.Duration {
	if s.clock == nil {
		return time.Since(s.base).Truncate(time.Microsecond)
	}
	return s.time().Sub(s.base)
}

func (s *Store) time() time.Time {
	if s.clock == nil {
		return time.Now()
	}
	return s.clock.Now().Truncate(time.Microsecond)
}
