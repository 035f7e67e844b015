package record

import (
	"context"
	"net/http"

	"github.com/tierlimit/tierlimit/core"
)

// Begin has a limiter decide about a request that has no record, and gives it
// one when it passes: a flood of refusals costs none. With keep a refused one
// gets it too, for whoever writes the refusal to find the decision in.
func Begin(ctx context.Context, t *Terms, id core.Identity, price int, keep bool, h http.Header) (*Record, core.Decision) {
	d := t.Limiter.Take(ctx, id, price)
	t.Headers(h, d)
	r := begin(ctx, t, id, &d, keep)
	return r, d
}

// BeginFailed notes that identification failed, likewise.
func BeginFailed(ctx context.Context, t *Terms, err error, keep bool, h http.Header) (*Record, core.Decision) {
	d := t.Limiter.Fail(ctx, err)
	t.Headers(h, d)
	r := begin(ctx, t, core.Identity{}, &d, keep)
	return r, d
}

func begin(ctx context.Context, t *Terms, id core.Identity, d *core.Decision, keep bool) *Record {
	passed := d.Allowed()
	if !passed && !keep {
		return nil
	}
	r := &Record{Context: ctx}
	r.finished, r.refused = !passed, !passed
	m := &r.first
	m.Terms, m.fixed, m.refund, m.Decision = t, t.Fixed, t.Refund, *d
	r.last, r.latest, r.shown = m, m, m
	if m.free() {
		m.passes(id)
	}
	return r
}
