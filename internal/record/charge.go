package record

import (
	"net/http"

	"github.com/tierlimit/tierlimit/core"
)

// Meet has a limiter decide about the request at a price, and shows the
// stricter decision in h. A bucket that was charged already is only raised to
// a higher price. A refusal gives back what earlier limiters took.
func (r *Record) Meet(t *Terms, id core.Identity, price int, h http.Header) core.Decision {
	r.flow.Lock()
	defer r.flow.Unlock()
	r.hide(h)
	m := r.charged(t, id)
	if m != nil {
		m.fixed = m.fixed && t.Fixed
		if m.refund == nil {
			m.refund = t.Refund
		}
	}
	switch {
	case m == nil:
		m = r.add(t, id, t.Limiter.Take(r, id, price))
	case price < 0 || price > m.Decision.Cost:
		r.update(m, m.Decision.Raise(r, price))
	default:
		r.update(m, m.Decision)
	}
	r.finish(m, h)
	return m.Decision
}

// Fail notes that identification failed at a limiter.
func (r *Record) Fail(t *Terms, err error, h http.Header) core.Decision {
	r.flow.Lock()
	defer r.flow.Unlock()
	r.hide(h)
	m := r.add(t, core.Identity{}, t.Limiter.Fail(r, err))
	r.finish(m, h)
	return m.Decision
}

// Raise makes the request cost n in all under every limiter that a price can
// reach. It returns the meeting that refused, nil when none did. A lower price
// is left for Settle.
func (r *Record) Raise(n int, h http.Header) *Meeting {
	r.SetPrice(n)
	r.flow.Lock()
	defer r.flow.Unlock()
	if r.finished {
		return nil
	}
	r.hide(h)
	for m := range r.meetings {
		if m.fixed || n <= m.Decision.Cost {
			continue
		}
		r.update(m, m.Decision.Raise(r, n))
		if !m.Decision.Allowed() {
			r.finish(m, h)
			refusal := *m // for whoever reads it while others go on with the record
			return &refusal
		}
	}
	r.show(h)
	return nil
}

// Settle corrects every charge once the handlers are done: gives it back where
// the terms say so for this status, else makes it what the request did cost.
// priced is false when no price is known beside what was charged.
func (r *Record) Settle(price int, priced bool, status int) {
	r.flow.Lock()
	defer r.flow.Unlock()
	if r.finished {
		return
	}
	r.finished = true
	latest := r.latest
	if latest != nil {
		r.marks.set(settled)
	}
	for m := range r.meetings {
		switch {
		case m.refund != nil && m.refund(status):
			r.update(m, m.Decision.Refund(r))
		case priced && !m.fixed:
			r.update(m, m.Decision.Settle(r, price))
		}
	}
	if r.latest != latest {
		r.update(latest, latest.Decision)
	}
}

// charged finds the meeting that has charged the bucket of id, or in which the
// same limiter let the same caller pass for nothing.
func (r *Record) charged(t *Terms, id core.Identity) *Meeting {
	for m := range r.meetings {
		if t.Limiter.Charged(m.Decision, id) || m.Limiter == t.Limiter && m.passed != nil && *m.passed == id {
			return m
		}
	}
	return nil
}

// free tells whether the request passed without a charge, by its plan or by a
// policy. What failed open is asked again.
func (m *Meeting) free() bool {
	switch m.Decision.Outcome {
	case core.AllowedUnlimited, core.AllowedMissing, core.AllowedUnknownTier:
		return true
	default:
		return false
	}
}

// finish shows the outcome of m, and gives back the others' charges when it is
// a refusal.
func (r *Record) finish(m *Meeting, h http.Header) {
	if !m.Decision.Allowed() {
		r.finished, r.refused = true, true
		for o := range r.meetings {
			if o != m {
				r.update(o, o.Decision.Refund(r))
			}
		}
		r.update(m, m.Decision)
	}
	r.show(h)
}
