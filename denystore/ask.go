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

// close ends the claim, if there is one, and tells whether no other that is
// counted in with it is open.
func (q *question) close() bool { return q.claim != nil && q.claim.open.Add(-1) <= 0 }

// ask asks the next store and notes what its answer tells.
func (s *Store) ask(ctx context.Context, q question, r core.Request) (core.Result, error) {
	changes := s.changesOf(q.who)
	q.first, q.asked = changes.now(), s.now()
	returned := false
	defer func() {
		if !returned { // next panicked
			s.lost(&q)
		}
	}()
	res, err := s.next.Take(ctx, r)
	returned = true
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

// failed forgets, unless the caller hung up, which says nothing. But what it
// claimed may not be charged, and what it was to confirm of claims is not.
func (s *Store) failed(ctx context.Context, q *question, err error) {
	if !ended(ctx, err) {
		s.lost(q)
		return
	}
	q.close()
	d := s.cells.find(q.who)
	if d == nil || d.open == nil {
		return // else hammering and hanging up would get around the cache
	}
	if q.aged || q.claim != nil && d.open == q.claim.open {
		d.due()
	}
}

// lost forgets: what is of age and cannot be confirmed is not good for longer.
func (s *Store) lost(q *question) {
	q.close()
	s.cells.forget(q.who)
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
	if !q.close() {
		return
	}
	d := s.cells.find(q.who)
	if d == nil {
		return
	}
	if d.open != q.claim.open {
		d.due() // the store has said more since, but perhaps from before this charge
		return
	}
	var next *refusal
	if !res.Degraded {
		next = d.after(answer{&res.Levels, q.asked, s.now()}, s.maxAge)
	}
	if next != nil && (d != q.claim || q.known.open != nil) {
		next.due() // of several claims, the last that is answered need not be the last that was charged
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
		s.lost(q)
		return
	}
	found := s.cells.find(q.who)
	known := found == q.known || found == nil
	if q.claim != nil {
		last := q.close()
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
