package record

import (
	"context"
	"net/http"

	"github.com/tierlimit/tierlimit/core"
)

// Begin has a limiter decide about a request that has no record, and gives it
// one when it passes: a flood of refusals costs none. With keep a refused one
// gets it too, for whoever writes the refusal to find the decision in. The
// decision goes to d: it is too large to be handed on from one to the next.
func Begin(ctx context.Context, t *Terms, id core.Identity, price int, keep bool, h http.Header, d *core.Decision) (r *Record, passed bool) {
	*d = t.Limiter.Take(ctx, id, price)
	return begin(ctx, t, id, d, keep, h)
}

// BeginFailed notes that identification failed, likewise.
func BeginFailed(ctx context.Context, t *Terms, err error, keep bool, h http.Header, d *core.Decision) (r *Record, passed bool) {
	*d = t.Limiter.Fail(ctx, err)
	return begin(ctx, t, core.Identity{}, d, keep, h)
}

func begin(ctx context.Context, t *Terms, id core.Identity, d *core.Decision, keep bool, h http.Header) (r *Record, passed bool) {
	t.Headers(h, *d)
	if passed = Passed(d); !passed && !keep {
		return nil, false
	}
	r = &Record{Context: ctx}
	r.finished, r.refused = !passed, !passed
	m := &r.first
	m.Terms, m.fixed, m.refund, m.Decision, m.shown = t, t.Fixed, t.Refund, *d, true
	r.latest = m
	if m.free() {
		m.passes(id)
	}
	return r, passed
}

// Passed is d.Allowed(), which copies what it is asked of, without the copy for
// the usual outcomes.
func Passed(d *core.Decision) bool {
	switch d.Outcome {
	case core.Allowed:
		return true
	case core.OverQuota:
		return d.Shadowed
	default:
		return d.Allowed()
	}
}
