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
	switch {
	case m == nil:
		m = r.add(t, t.Limiter.Take(r, id, price))
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
	m := r.add(t, t.Limiter.Fail(r, err))
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
		if m.Fixed || n <= m.Decision.Cost {
			continue
		}
		r.update(m, m.Decision.Raise(r, n))
		if !m.Decision.Allowed() {
			r.finish(m, h)
			return m
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
	for m := range r.meetings {
		switch {
		case m.Refund != nil && m.Refund(status):
			r.update(m, m.Decision.Refund(r))
		case priced && !m.Fixed:
			r.update(m, m.Decision.Settle(r, price))
		}
	}
	r.update(latest, latest.Decision)
}

// charged finds the meeting that has charged the bucket of id.
func (r *Record) charged(t *Terms, id core.Identity) *Meeting {
	for m := range r.meetings {
		if t.Limiter.Charged(m.Decision, id) {
			return m
		}
	}
	return nil
}

// finish shows the outcome of m, and gives back the others' charges when it is
// a refusal.
func (r *Record) finish(m *Meeting, h http.Header) {
	if !m.Decision.Allowed() {
		r.finished = true
		for o := range r.meetings {
			if o != m {
				r.update(o, o.Decision.Refund(r))
			}
		}
		r.update(m, m.Decision)
	}
	r.show(h)
}
