package ginlimit

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
	"github.com/tierlimit/tierlimit/internal/record"
)

// IdentifyFunc says who is asking. An Identity without a Key, or with one of
// white space alone, is nobody, for whom [core.OnMissing] decides; an error is
// answered 503 and charges nothing. It is called once a request for every
// limiter, concurrently.
type IdentifyFunc func(c *gin.Context) (core.Identity, error)

// New limits the routes behind it by the plan that identify finds. An allowed
// request carries rate headers before its handler runs; the handler of a
// refused one never runs. It panics when a must-have is nil.
func New(l *core.Limiter, identify IdentifyFunc, opts ...Option) gin.HandlerFunc {
	if l == nil || identify == nil {
		panic("ginlimit: New needs a limiter and an IdentifyFunc") //nolint:forbidigo // wiring fault, at start-up
	}
	m := &middleware{identify: identify, options: newOptions(opts)}
	m.terms = record.Terms{
		Limiter: l,
		Headers: m.headers,
		Fixed:   m.fixed,
		Refund:  m.refund,
		Options: m,
	}
	return m.handle
}

// Decision is the latest decision about the request, after a later limiter or
// a Cost; it is false when no limiter has decided.
func Decision(c *gin.Context) (core.Decision, bool) {
	return record.From(c.Request.Context()).Decision()
}

type middleware struct {
	options

	identify IdentifyFunc
	terms    record.Terms
}

func (m *middleware) handle(c *gin.Context) {
	if record.Preflight(c.Request) || m.skip != nil && m.skip(c) {
		outer := c.Request
		rec, fresh := enter(c)
		if fresh {
			defer leave(c, outer)
		}
		rec.Skip()
		serve(c, rec)
		return
	}
	var d core.Decision
	rec, fresh, passed := m.decide(c, &d)
	if fresh {
		defer leave(c, c.Request)
		c.Request = rec.Enter(c.Request)
	}
	if !passed {
		m.refuse(c, &d)
		return
	}
	serve(c, rec)
}

// enter gives the request a record, unless it has one.
func enter(c *gin.Context) (rec *record.Record, fresh bool) {
	rec, fresh = record.In(c.Request.Context())
	if fresh {
		c.Request = rec.Enter(c.Request)
	}
	return rec, fresh
}

// leave is for whoever gave the request its record, and no other: behind a
// http.TimeoutHandler others may still run.
func leave(c *gin.Context, outer *http.Request) { record.Leave(outer, c.Request) }

// decide identifies the caller, charges the request and fills d. The record is
// nil when that is refused, nobody was told of it, and nobody needs it.
func (m *middleware) decide(c *gin.Context, d *core.Decision) (rec *record.Record, fresh, passed bool) {
	id, err := m.identify(c)
	if rec = record.From(c.Request.Context()); err != nil {
		if rec != nil {
			*d = rec.Fail(&m.terms, err, c.Writer.Header())
			return rec, false, record.Passed(d)
		}
		rec, passed = record.BeginFailed(c.Request.Context(), &m.terms, err, m.refused != nil, c.Writer.Header(), d)
		return rec, rec != nil, passed
	}
	if record.Nobody(id) {
		id.Key = ""
		if id.Addr == "" {
			// A peer without an address, a Unix socket, is charged as one.
			id.Addr, _ = httplimit.ClientAddr(c.Request, m.trusted, m.ipv6Bits)
		}
	}
	price := m.price(c, rec)
	if rec == nil && m.cost != nil {
		rec = record.From(c.Request.Context()) // that function may have set a price
	}
	if rec != nil {
		*d = rec.Meet(&m.terms, id, price, c.Writer.Header())
		return rec, false, record.Passed(d)
	}
	rec, passed = record.Begin(c.Request.Context(), &m.terms, id, price, m.refused != nil, c.Writer.Header(), d)
	return rec, rec != nil, passed
}

// price is what the request costs before its handler runs; below 0 when it was
// set to something that is no price.
func (m *middleware) price(c *gin.Context, rec *record.Record) int {
	if m.fixed {
		return m.fixedCost
	}
	if n, ok := priceSet(c, rec); ok {
		return n
	}
	if m.cost != nil {
		return m.cost(c)
	}
	return 1
}

// serve runs the handlers. The outermost limiter or Cost settles when they are
// done, also when one of them panics.
func serve(c *gin.Context, rec *record.Record) {
	if !rec.Own() {
		c.Next()
		// The owner may be another adapter's, which sees neither.
		priceSet(c, rec)
		rec.SetStatus(c.Writer.Status())
		return
	}
	status := http.StatusInternalServerError
	defer func() {
		n, ok := priceSet(c, rec)
		if n < 0 {
			v, _ := c.Get(CostKey)
			record.ReportInvalid(rec, "ginlimit", v)
			ok = false
		}
		rec.Settle(n, ok, status)
	}()
	c.Next()
	status = c.Writer.Status()
}

// refuse ends the request with the options of this limiter.
func (m *middleware) refuse(c *gin.Context, d *core.Decision) {
	c.Abort()
	if m.refused == nil {
		httplimit.Refuse(c.Writer, c.Request, *d)
		return
	}
	httplimit.RetryAfter(c.Writer.Header(), *d)
	m.refused(c, *d)
}
