package denystore

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// question is a charge that the next store is asked for.
type question struct {
	who   fingerprint
	known *refusal // what was known of who; nil for nothing
	claim *refusal // what took its place while the question is open; nil for nothing
	aged  bool     // it was to be refused, had nobody to ask again
	first tally
	asked time.Duration
}

// ask asks the next store and notes what its answer tells.
func (s *Store) ask(ctx context.Context, q question, r core.Request) (core.Result, error) {
	changes := s.changesOf(q.who)
	q.first, q.asked = changes.now(), s.now()
	res, err := s.next.Take(ctx, r)
	switch {
	case err != nil:
		s.failed(ctx, &q, err)
	case res.Allowed:
		changes.add(charge)
		s.allowed(&q, &r, &res)
	default:
		s.refused(&q, &r, &res)
	}
	return res, err //nolint:wrapcheck // a decorator hands on
}

// failed forgets: what is of age and cannot be confirmed is not good for longer.
// That a caller hung up says nothing, but what it claimed may not be charged.
func (s *Store) failed(ctx context.Context, q *question, err error) {
	if !ended(ctx, err) {
		s.cells.forget(q.who)
		return
	}
	if q.claim == nil {
		return
	}
	q.claim.open.Add(-1)
	if d := s.cells.find(q.who); d != nil && d.open == q.claim.open {
		d.due()
	}
}

// ended tells whether err is the end of the caller's own ctx. A store that
// watches the deadline itself may be earlier than ctx, by a moment.
func ended(ctx context.Context, err error) bool {
	if end := ctx.Err(); end != nil {
		return errors.Is(err, end)
	}
	deadline, ok := ctx.Deadline()
	return ok && errors.Is(err, context.DeadlineExceeded) && !time.Now().Before(deadline)
}

// allowed notes that less is left than was known.
func (s *Store) allowed(q *question, r *core.Request, res *core.Result) {
	if q.claim != nil {
		s.confirmed(q, res)
		return
	}
	var next *refusal
	if q.known != nil {
		if q.known.under(r) && !res.Degraded {
			next = q.known.after(answer{&res.Levels, q.asked, s.now()}, s.maxAge)
		}
		if s.cells.swap(q.known, next) {
			return
		}
	}
	switch d := s.cells.find(q.who); {
	case d == nil:
	case q.aged && next != nil:
		s.keep(q, next) // claims upon claims were wrong about what is left
	default:
		d.due() // it may know nothing of this charge
	}
}

// confirmed notes what is left after a claim was charged, once no other is open:
// until then it is counted in, as they are.
func (s *Store) confirmed(q *question, res *core.Result) {
	if q.claim.open.Add(-1) > 0 {
		return
	}
	d := s.cells.find(q.who)
	if d == nil || d.open != q.claim.open {
		return // the store has said more since
	}
	var next *refusal
	if !res.Degraded {
		next = d.after(answer{&res.Levels, q.asked, s.now()}, s.maxAge)
	}
	s.cells.swap(d, next)
}

// keep notes what a store said, unless something was given back since. What was
// charged since is asked about again.
func (s *Store) keep(q *question, d *refusal) {
	changes := s.changesOf(q.who)
	if q.first.madeRoom(changes.now()) {
		return
	}
	s.cells.keep(d)
	switch now := changes.now(); {
	case q.first.madeRoom(now):
		s.cells.swap(d, nil)
	case now != q.first:
		d.due()
	}
}

// refused keeps what the store said, unless that is no more true.
func (s *Store) refused(q *question, r *core.Request, res *core.Result) {
	var d *refusal
	if len(r.Limits) <= core.MaxLimits && !res.Degraded { // a local store needs no cache, and counts by other limits
		d = newRefusal(q.who, r, answer{&res.Levels, q.asked, s.now()}, s.maxAge)
	}
	if d == nil {
		s.cells.forget(q.who)
		return
	}
	found := s.cells.find(q.who)
	known := found == q.known || found == nil
	if q.claim != nil {
		last := q.claim.open.Add(-1) <= 0
		known = found == q.claim || found == nil || last && found.open == q.claim.open
	}
	if known || s.changesOf(q.who).now() == q.first { // else what was noted meanwhile is newer
		s.keep(q, d)
	}
}

// changes count what was done by one of the keys that share them: charges in
// the lower half, and in the upper half what may have made room. Who asks
// compares them before and after, because an answer may be overtaken.
type changes struct{ n atomic.Uint64 }

// tally is what changes stood at.
type tally uint64

const (
	charge tally = 1
	room   tally = 1 << 32
)

func (c *changes) now() tally { return tally(c.n.Load()) }

// add notes one change and tells what stands then.
func (c *changes) add(one tally) tally { return tally(c.n.Add(uint64(one))) }

// madeRoom tells whether room may have been made between t and a later tally.
func (t tally) madeRoom(later tally) bool { return t/room != later/room }
