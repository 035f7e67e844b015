package core

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Raise makes the request cost cost units in all, or refuses it and gives back
// what it took: a route that costs 20 behind a limiter that took 1 asks for 19
// more. A cost below what was charged is settled. A decision that was refused,
// came from Peek, asked no store or failed open is returned as it is.
func (d Decision) Raise(ctx context.Context, cost int) Decision {
	switch {
	case !d.answered || cost == d.Cost:
		return d
	case cost >= 0 && cost < d.Cost:
		return d.Settle(ctx, cost)
	}
	l, began := d.limiter, d.limiter.clock.Now()
	n := d
	n.Asked = cost
	n.Shadowed = false
	if l.needsStore(ctx, &n, cost) {
		res, err := l.store.Take(ctx, d.request(Charge, cost-d.Cost))
		n.At = l.at(&res)
		switch {
		case err != nil:
			l.storageFailed(ctx, &n, err)
		case res.Allowed:
			n.read(&res)
			n.Outcome = Allowed
			n.charged(cost - d.Cost)
		default:
			n.read(&res)
			n.refuse(OverQuota)
		}
	}
	if n.Outcome < Allowed {
		n.undo(ctx, d)
	}
	l.tellLate(ctx, &n, began)
	return n
}

// Settle says that the request did cost cost units in all, once that is known:
// it charges each window what still fits of the rest, or gives back what was
// too much, and never refuses. Cost is what was really charged afterwards, so
// a later Refund never gives back more. A cost below 0 changes nothing.
//
// It ignores that ctx was cancelled, because the client's hanging up does not
// make the work undone. Giving back later than the shortest window after the
// check is dropped: time has given it back already.
func (d Decision) Settle(ctx context.Context, cost int) Decision {
	if !d.answered || cost < 0 || cost == d.Cost {
		return d
	}
	l, began := d.limiter, d.limiter.clock.Now()
	n := d
	n.Asked = cost
	var res Result
	var err error
	if cost > d.Cost {
		res, err = l.store.Take(detach(ctx), d.request(Force, cost-d.Cost))
	} else {
		n.Cost, n.fallback = cost, max(d.fallback-(d.Cost-cost), 0)
		if d.late() {
			return n
		}
		res, err = d.giveBack(ctx, d.Cost-cost, false)
	}
	n.At = l.at(&res)
	if err != nil {
		n.Err = fmt.Errorf("storage error: %w", err)
	} else {
		n.read(&res)
		if cost > d.Cost {
			n.charged(min(max(res.Charged, 0), cost-d.Cost))
		}
	}
	l.tellLate(ctx, &n, began)
	return n
}

// charged notes that the store which has just answered took units.
func (d *Decision) charged(units int) {
	d.Cost += units
	if d.Degraded {
		d.fallback += units
	}
}

// giveBack returns units to the stores that took them: what a fallback has
// charged was charged last.
func (d *Decision) giveBack(ctx context.Context, units int, undo bool) (res Result, err error) {
	ctx = detach(ctx)
	r := d.request(Force, 0)
	r.Undo = undo
	for _, part := range [2]struct {
		units    int
		degraded bool
	}{
		{min(units, d.fallback), true},
		{units - min(units, d.fallback), false},
	} {
		if part.units == 0 {
			continue
		}
		r.Cost, r.Degraded = -part.units, part.degraded
		answer, failed := d.limiter.store.Take(ctx, r)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		res = answer
	}
	return res, err
}

// Refund is Settle(ctx, 0): the request is not to be charged, for example
// because the service failed. The result has Cost 0, so refunding it again
// does nothing.
func (d Decision) Refund(ctx context.Context) Decision { return d.Settle(ctx, 0) }

// request asks for the same bucket again.
func (d *Decision) request(mode Mode, cost int) Request {
	return Request{Key: d.key(d.limiter), Limits: d.grant.limits, Cost: cost, Mode: mode, Degraded: d.Degraded}
}

// late tells whether time has given back what d charged.
func (d *Decision) late() bool {
	return d.limiter.clock.Now().Sub(d.limiter.epoch)-d.checked > shortest(d.grant.limits)
}

// at is when the store answered.
func (l *Limiter) at(res *Result) time.Time {
	if res.Now.IsZero() {
		return l.clock.Now()
	}
	return res.Now
}

// detach keeps the values of ctx and forgets that it may be cancelled.
func detach(ctx context.Context) context.Context {
	if ctx.Done() == nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}
