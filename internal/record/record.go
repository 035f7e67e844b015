package record

import (
	"context"
	"net/http"
	"sync"

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
}

// Record is what the limiters of one request have decided. It is the request's
// context as well, which saves an allocation. It is safe for concurrent use.
type Record struct {
	context.Context

	mu       sync.Mutex
	first    Meeting // in place: there is seldom another
	further  []*Meeting
	latest   *Meeting
	shown    *Meeting // whose headers stand
	price    int
	priced   bool
	owned    bool // somebody settles when the handlers are done
	skipped  bool
	finished bool // refused or settled: nothing is corrected any more
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

// Own is true for the first caller: it settles when the handlers are done.
func (r *Record) Own() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := !r.owned
	r.owned = true
	return first
}

// Skip notes that a limiter let the request pass unlimited on purpose.
func (r *Record) Skip() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.skipped = true
}

// Heeds tells whether a limiter that a price can reach was met, or one that
// was told to skip the request.
func (r *Record) Heeds() bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.skipped {
		return true
	}
	for m := range r.meetings {
		if !m.Fixed {
			return true
		}
	}
	return false
}

// Met tells whether any limiter has decided.
func (r *Record) Met() bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.latest != nil
}

// SetPrice notes what the request costs in all.
func (r *Record) SetPrice(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.price, r.priced = n, true
}

// Price is what SetPrice noted last.
func (r *Record) Price() (n int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.price, r.priced
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
	if r.latest == nil || !yield(&r.first) {
		return
	}
	for _, m := range r.further {
		if !yield(m) {
			return
		}
	}
}

// add notes a meeting.
func (r *Record) add(t *Terms, d core.Decision) *Meeting {
	if r.latest == nil {
		r.first = Meeting{Terms: t, Decision: d}
		r.latest = &r.first
		return r.latest
	}
	m := &Meeting{Terms: t, Decision: d}
	r.further = append(r.further, m)
	r.latest = m
	return m
}
