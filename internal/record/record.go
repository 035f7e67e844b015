package record

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/tierlimit/tierlimit/core"
)

// Terms are what one limiter was installed with.
type Terms struct {
	Limiter *core.Limiter
	Headers func(http.Header, core.Decision)
	Fixed   bool                  // its price is its own: Cost and SetCost leave it alone
	Refund  func(status int) bool // nil: never
	Options any                   // the adapter's own, for whoever has to refuse
}

// Meeting is one limiter's decision about the request.
type Meeting struct {
	*Terms

	Decision core.Decision

	passed *core.Identity        // who passed for nothing; nil when it was charged
	fixed  bool                  // no limiter that a price can reach has met this bucket
	shown  bool                  // its headers stand
	refund func(status int) bool // of the first limiter that has one
	next   *Meeting
}

// Record is what the limiters of one request have decided. It is the request's
// context as well, which saves an allocation.
//
// It is safe for concurrent use, because a handler may outlive the middleware
// around it (http.TimeoutHandler) and start goroutines. One lock orders what
// limiters and prices do; the other guards the decisions that a handler or an
// observer reads, and is never held while either is called.
type Record struct {
	context.Context //nolint:containedctx // it is the context, with one value more

	flow     sync.Mutex
	finished bool // refused or settled: nothing is corrected any more
	refused  bool // by a limiter: which others a price would have met is unknown
	skipped  bool // a limiter let it pass unlimited on purpose

	marks  marks
	status atomic.Int32 // of the answer, where the adapter has to watch for it
	price  price

	mu     sync.Mutex
	latest *Meeting
	first  Meeting // in place: there is seldom another; it has no Terms while there is none

	request http.Request // in place too, see Enter
}

type contextKey struct{}

// Value finds the record itself, and else what the request's context holds.
func (r *Record) Value(key any) any {
	if key == (contextKey{}) {
		return r
	}
	return r.Context.Value(key)
}

// From returns the record in ctx; nil when there is none.
func From(ctx context.Context) *Record {
	r, _ := ctx.Value(contextKey{}).(*Record)
	return r
}

// In returns the record in ctx, or a fresh one that is to become the request's
// context.
func In(ctx context.Context) (r *Record, fresh bool) {
	if r := From(ctx); r != nil {
		return r, false
	}
	return &Record{Context: ctx}, true
}

// Enter returns r with the record as its context. The record of a request that
// came without one holds the copy of it, which saves an allocation.
func (r *Record) Enter(req *http.Request) *http.Request {
	r.request = *req.WithContext(r)
	return &r.request
}

// Leave hands back what the server and outer middleware look for in the request
// that they know: the files of an upload, which the server removes, and the
// pattern that the mux has found. inner is the request that the handlers got.
func Leave(outer, inner *http.Request) {
	if outer == inner {
		return
	}
	if outer.MultipartForm == nil {
		outer.MultipartForm = inner.MultipartForm
	}
	if outer.Pattern == "" {
		outer.Pattern = inner.Pattern
	}
}

// Own is true for the first caller: it settles when the handlers are done.
func (r *Record) Own() bool { return r.marks.set(owned) }

// Watch is true for the first caller: it notes the status that the client gets.
func (r *Record) Watch() bool { return r.marks.set(watched) }

// SetStatus notes the status that the handlers answer with. The first counts.
func (r *Record) SetStatus(status int) {
	r.status.CompareAndSwap(0, int32(status)) //nolint:gosec // three digits
}

// Status is what SetStatus noted, 200 when it was not called.
func (r *Record) Status() int { return cmp.Or(int(r.status.Load()), http.StatusOK) }

// Skip notes that a limiter let the request pass unlimited on purpose.
func (r *Record) Skip() {
	r.flow.Lock()
	defer r.flow.Unlock()
	r.skipped = true
}

// Heeds tells whether a limiter that a price can reach was met, or one that
// was told to skip the request.
func (r *Record) Heeds() bool {
	if r == nil {
		return false
	}
	r.flow.Lock()
	defer r.flow.Unlock()
	if r.skipped || r.refused {
		return true
	}
	for m := range r.meetings {
		if !m.fixed {
			return true
		}
	}
	return false
}

// SetPrice notes what the request costs in all.
func (r *Record) SetPrice(n int) {
	if changed := r.price.set(n); changed && r.marks.has(settled) {
		reportLate(r, n)
	}
}

// Price is what SetPrice noted last.
func (r *Record) Price() (n int, ok bool) {
	if r == nil {
		return 0, false
	}
	return r.price.get()
}

// Decision is the latest, after all corrections.
func (r *Record) Decision() (core.Decision, bool) {
	if r == nil {
		return core.Decision{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.latest == nil {
		return core.Decision{}, false
	}
	return r.latest.Decision, true
}

// meetings yields all, in the order in which they came.
func (r *Record) meetings(yield func(*Meeting) bool) {
	if r.first.Terms == nil {
		return
	}
	for m := &r.first; m != nil && yield(m); m = m.next {
	}
}

// add notes a meeting.
func (r *Record) add(t *Terms, id core.Identity, d core.Decision) *Meeting {
	m := &r.first
	if m.Terms != nil {
		last := m
		for last.next != nil {
			last = last.next
		}
		m = &Meeting{}
		last.next = m
	}
	m.Terms, m.fixed, m.refund = t, t.Fixed, t.Refund
	r.update(m, d)
	if m.free() {
		m.passes(id)
	}
	return m
}

// passes notes who passed for nothing. Only here an identity costs memory.
//
//go:noinline
func (m *Meeting) passes(id core.Identity) { m.passed = &id }

// update notes what was decided last.
func (r *Record) update(m *Meeting, d core.Decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m.Decision = d
	r.latest = m
}
