package httplimit

import (
	"context"
	"net/http"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/record"
)

// IdentifyFunc says who is asking. An Identity without a Key, or with one of
// white space alone, is nobody, for whom [core.OnMissing] decides; an error is
// answered 503 and charges nothing. It is called once a request for every
// limiter, concurrently.
type IdentifyFunc func(r *http.Request) (core.Identity, error)

// New limits the handlers behind it by the plan that identify finds. An
// allowed request carries rate headers before its handler runs; the handler of
// a refused one never runs. It panics when a must-have is nil.
//
// What belongs to a request is told by its context: a sub-request of a batch,
// made with the context of the whole, is part of it and pays nothing more.
func New(l *core.Limiter, identify IdentifyFunc, opts ...Option) func(http.Handler) http.Handler {
	if l == nil || identify == nil {
		panic("httplimit: New needs a limiter and an IdentifyFunc") //nolint:forbidigo // wiring fault, at start-up
	}
	m := &middleware{identify: identify, options: newOptions(opts)}
	m.terms = record.Terms{
		Limiter: l,
		Headers: m.headers,
		Fixed:   m.fixed,
		Refund:  m.refund,
		Options: m,
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { m.handle(w, r, next) })
	}
}

// Decision is the latest decision about the request that ctx belongs to, after
// a later limiter or a Cost; it is false when no limiter has decided.
func Decision(ctx context.Context) (core.Decision, bool) {
	return record.From(ctx).Decision()
}

type middleware struct {
	options

	identify IdentifyFunc
	terms    record.Terms
}

func (m *middleware) handle(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if record.Preflight(r) || m.skip != nil && m.skip(r) {
		rec, inner, fresh := enter(r)
		if fresh {
			defer record.Leave(r, inner)
		}
		rec.Skip()
		serve(w, inner, rec, next)
		return
	}
	var d core.Decision
	rec, fresh, passed := m.decide(w, r, &d)
	if fresh {
		inner := rec.Enter(r)
		defer record.Leave(r, inner)
		r = inner
	}
	if !passed {
		m.refuse(w, r, &d)
		return
	}
	if m.refund != nil && rec.Watch() {
		w = &statusWriter{ResponseWriter: w, record: rec}
	}
	serve(w, r, rec, next)
}

// enter gives the request a record, unless it has one. Whoever gave it leaves
// it, and no other: behind a http.TimeoutHandler others may still run.
func enter(r *http.Request) (rec *record.Record, inner *http.Request, fresh bool) {
	rec, fresh = record.In(r.Context())
	if fresh {
		r = rec.Enter(r)
	}
	return rec, r, fresh
}

// decide identifies the caller, charges the request and fills d. The record is
// nil when that is refused, nobody was told of it, and nobody needs it.
func (m *middleware) decide(w http.ResponseWriter, r *http.Request, d *core.Decision) (rec *record.Record, fresh, passed bool) {
	id, err := m.identify(r)
	if rec = record.From(r.Context()); err != nil {
		if rec != nil {
			*d = rec.Fail(&m.terms, err, w.Header())
			return rec, false, record.Passed(d)
		}
		rec, passed = record.BeginFailed(r.Context(), &m.terms, err, m.refused != nil, w.Header(), d)
		return rec, rec != nil, passed
	}
	if record.Nobody(id) {
		id.Key = ""
		if id.Addr == "" {
			// A peer without an address, a Unix socket, is charged as one.
			id.Addr, _ = ClientAddr(r, m.trusted, m.ipv6Bits)
		}
	}
	price := m.price(r, rec)
	if rec == nil && m.cost != nil {
		rec = record.From(r.Context()) // that function may have set a price
	}
	if rec != nil {
		*d = rec.Meet(&m.terms, id, price, w.Header())
		return rec, false, record.Passed(d)
	}
	rec, passed = record.Begin(r.Context(), &m.terms, id, price, m.refused != nil, w.Header(), d)
	return rec, rec != nil, passed
}

// price is what the request costs before its handler runs; below 0 when it was
// set to something that is no price.
func (m *middleware) price(r *http.Request, rec *record.Record) int {
	if m.fixed {
		return m.fixedCost
	}
	if n, ok := rec.Price(); ok {
		return n
	}
	if m.cost != nil {
		return m.cost(r)
	}
	return 1
}

// serve runs the handlers. The outermost limiter or Cost settles when they are
// done, also when one of them panics.
func serve(w http.ResponseWriter, r *http.Request, rec *record.Record, next http.Handler) {
	if !rec.Own() {
		next.ServeHTTP(w, r)
		return
	}
	status := http.StatusInternalServerError
	defer func() {
		n, ok := rec.Price()
		if n < 0 {
			record.ReportInvalid(rec, "httplimit", n)
			ok = false
		}
		rec.Settle(n, ok, status)
	}()
	next.ServeHTTP(w, r)
	status = rec.Status()
}

// refuse ends the request with the options of this limiter.
func (m *middleware) refuse(w http.ResponseWriter, r *http.Request, d *core.Decision) {
	if m.refused == nil {
		refuse(w, r, d)
		return
	}
	setRetryAfter(w.Header(), d)
	m.refused(w, r, *d)
}
