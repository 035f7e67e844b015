package denystore

import (
	"context"
	"errors"
	"math/bits"
	"sync/atomic"
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
	mask   uint64
	cells  []atomic.Pointer[refusal]

	changes [1 << 8]atomic.Uint32 // by who: what was done that may undo a refusal
}

var _ core.Store = (*Store)(nil)

// ways is in how many cells one key may lie, so that two callers who hammer do
// not push each other out.
const ways = 4

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
	cells := max(1<<bits.Len(uint(o.maxKeys-1)), ways)
	s := &Store{
		next: next, maxAge: o.maxAge, clock: o.clock, seeds: newSeeds(),
		mask: uint64(cells/ways - 1), cells: make([]atomic.Pointer[refusal], cells),
	}
	s.base = s.time()
	return s
}

// Take does r in the next store, or refuses it from memory; see [core.Store].
// Errors are the next store's. Result.Now is zero for what comes from memory.
func (s *Store) Take(ctx context.Context, r core.Request) (core.Result, error) {
	switch {
	case r.Mode == core.Force && !r.Undo:
		res, err := s.next.Take(ctx, r)
		s.changed(s.seeds.of(&r.Key))
		return res, err //nolint:wrapcheck // a decorator hands on
	case r.Mode != core.Charge, r.Cost <= 0, r.Degraded:
		return s.next.Take(ctx, r) //nolint:wrapcheck // as above
	}
	who := s.seeds.of(&r.Key)
	if d := s.find(who); d != nil && d.covers(&r) {
		if now := s.now(); d.holds(now, s.maxAge) {
			return d.result(&r, now), nil
		}
	}
	return s.ask(ctx, who, r)
}

// ask asks the next store and keeps a refusal, or forgets one that is no more.
func (s *Store) ask(ctx context.Context, who fingerprint, r core.Request) (core.Result, error) {
	changes := s.changesOf(who)
	before := changes.Load()
	asked := s.now()
	res, err := s.next.Take(ctx, r)
	switch {
	case err != nil:
		// One that is of age and cannot be confirmed is not good for longer. That
		// a caller hung up says nothing.
		if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
			s.forget(who)
		}
	case res.Allowed:
		s.forget(who) // its levels are no more true, if it is not fulfilled
	case len(r.Limits) <= core.MaxLimits:
		s.keep(newRefusal(who, &r, &res, asked, s.now(), s.maxAge))
		if changes.Load() != before {
			s.forget(who) // it may have been judged before something was given back
		}
	}
	return res, err //nolint:wrapcheck // a decorator hands on
}

// Reset forgets key here and in the next store; see [core.Store].
func (s *Store) Reset(ctx context.Context, key core.Key, limits []core.Limit) error {
	err := s.next.Reset(ctx, key, limits)
	s.changed(s.seeds.of(&key))
	return err //nolint:wrapcheck // a decorator hands on
}

// changed forgets what is known of who, and what is on its way.
func (s *Store) changed(who fingerprint) {
	s.changesOf(who).Add(1)
	s.forget(who)
}

func (s *Store) changesOf(who fingerprint) *atomic.Uint32 {
	return &s.changes[who.a%uint64(len(s.changes))]
}

// row is the cells in which who may lie.
func (s *Store) row(who fingerprint) []atomic.Pointer[refusal] {
	first := (who.b & s.mask) * ways
	return s.cells[first : first+ways]
}

func (s *Store) find(who fingerprint) *refusal {
	row := s.row(who)
	for i := range row {
		if d := row[i].Load(); d != nil && d.who == who {
			return d
		}
	}
	return nil
}

// keep puts d into the cell of its key, else into an empty one, else into that
// of the refusal which fits again first.
func (s *Store) keep(d *refusal) {
	row := s.row(d.who)
	best := 0
	for i := range row {
		o := row[i].Load()
		if o == nil || o.who == d.who {
			best = i
			if o != nil {
				break
			}
		} else if b := row[best].Load(); b != nil && o.fits < b.fits {
			best = i
		}
	}
	row[best].Store(d)
}

func (s *Store) forget(who fingerprint) {
	row := s.row(who)
	for i := range row {
		if d := row[i].Load(); d != nil && d.who == who {
			row[i].CompareAndSwap(d, nil)
		}
	}
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
