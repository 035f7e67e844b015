package core

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Take decides whether id may have cost units now, and charges them if so.
// A cost of 0 is free and allowed even on an empty bucket; below 0 it is
// [InvalidCost]; beyond what a full bucket holds it is [CostExceedsLimit], and
// the store is not asked. When ctx has ended before the store would be asked,
// the answer is [Canceled].
//
// It allocates nothing of its own, but for a quota of several windows whose
// levels it returns (96 bytes).
func (l *Limiter) Take(ctx context.Context, id Identity, cost int) (d Decision) {
	if len(l.observers) == 0 {
		l.judge(ctx, &d, &id, cost, Charge)
		return d
	}
	began := l.clock.Now()
	l.judge(ctx, &d, &id, cost, Charge)
	l.tell(ctx, &d, false, began)
	return d
}

// Peek tells what [Limiter.Take] would answer. Nothing is charged or written
// and no observer is told: Cost is 0, and the levels are as they stand. A caller
// never seen before shows a full bucket.
func (l *Limiter) Peek(ctx context.Context, id Identity, cost int) (d Decision) {
	l.judge(ctx, &d, &id, cost, Look)
	d.answered = false
	return d
}

// Fail is the Decision for a request whose identification failed with err:
// [IdentifyFailed], or [Canceled] when ctx has ended. Nothing is charged;
// observers are told.
func (l *Limiter) Fail(ctx context.Context, err error) Decision {
	now := l.clock.Now()
	d := Decision{Outcome: IdentifyFailed, At: now, Err: err}
	if ctx.Err() != nil {
		d.Outcome = Canceled
	}
	if len(l.observers) > 0 {
		l.tell(ctx, &d, false, now)
	}
	return d
}

// Charged tells whether Take(id) would meet the bucket that d has charged,
// under equal limits, so that it would charge one request twice. It is false
// when d was refused, failed open, came from Peek or asked no store.
func (l *Limiter) Charged(d Decision, id Identity) bool {
	if !d.answered || !d.Allowed() {
		return false
	}
	var o Decision
	o.identity = id
	if !l.sameStore(d.limiter) || !l.resolve(&o) {
		return false
	}
	return o.key(l) == d.key(d.limiter) && (o.grant == d.grant || equalLimits(o.grant.limits, d.grant.limits))
}

// judge fills d: policies that need no store end early, then one store call.
func (l *Limiter) judge(ctx context.Context, d *Decision, id *Identity, cost int, mode Mode) {
	d.limiter, d.Asked = l, cost
	d.identity.Key, d.identity.Tier, d.identity.Addr = id.Key, id.Tier, id.Addr
	if !l.resolve(d) || !l.needsStore(ctx, d, cost) {
		d.At = l.clock.Now()
		return
	}
	key, anonymous := d.identity.Key, false
	if key == "" {
		key, anonymous = d.identity.Addr, true
	}
	if charge := d.grant.prepared; charge != nil && mode == Charge {
		level, now, allowed := charge(l.scope, key, anonymous, cost)
		l.stamp(d, now)
		d.Limit, d.Level, d.answered = d.grant.limits[0], level, true
		if allowed {
			d.Outcome, d.Cost = Allowed, cost
		} else {
			d.refuse(OverQuota)
			d.answered = d.Shadowed
		}
		return
	}
	l.ask(ctx, d, Request{
		Key:    Key{Scope: l.scope, Tier: d.Tier, ID: key, Anonymous: anonymous},
		Limits: d.grant.limits, Cost: cost, Mode: mode,
	})
}

// ask has the store judge r, and fills d.
func (l *Limiter) ask(ctx context.Context, d *Decision, r Request) {
	res, err := l.store.Take(ctx, r)
	l.stamp(d, res.Now)
	switch {
	case err != nil:
		l.storageFailed(ctx, d, err)
	case res.Allowed:
		d.read(&res)
		d.Outcome = Allowed
		if r.Mode == Charge {
			d.charged(r.Cost)
		}
	default:
		d.read(&res)
		d.refuse(OverQuota)
		d.answered = d.Shadowed
	}
}

// storageFailed decides what a request that the store gave no answer for gets.
func (l *Limiter) storageFailed(ctx context.Context, d *Decision, err error) {
	d.Err = fmt.Errorf("storage error: %w", err)
	switch {
	case ended(ctx, err):
		d.Err = err
		d.refuse(Canceled)
	case errors.Is(err, ErrUnsupported):
		d.refuse(StorageFailed)
	case l.onStorageError.kind == policyAllow:
		d.Outcome = AllowedOnStorageError
	default:
		d.refuse(StorageFailed)
		d.status = int16(l.onStorageError.status) //nolint:gosec // three digits
	}
}

// ended tells whether err is the end of the caller's own ctx. A store that keeps
// the deadline itself may be earlier than ctx, by a moment.
func ended(ctx context.Context, err error) bool {
	if end := ctx.Err(); end != nil {
		return errors.Is(err, end)
	}
	deadline, ok := ctx.Deadline()
	return ok && errors.Is(err, context.DeadlineExceeded) && !SystemClock.Now().Before(deadline)
}

// stamp notes when d was judged, by the store's clock where it tells, and how
// old the limiter is by its own.
func (l *Limiter) stamp(d *Decision, now time.Time) {
	d.At = now
	own := now
	// A reading of this machine's monotonic clock, which the store has just
	// made, saves a second one.
	if !l.system || own.Round(0) == own { //nolint:staticcheck // Equal is blind to the monotonic reading
		own = l.clock.Now()
		if d.At.IsZero() {
			d.At = own
		}
	}
	d.checked = own.Sub(l.epoch)
}

// key names the bucket of d in l.
func (d *Decision) key(l *Limiter) Key {
	k := Key{Scope: l.scope, Tier: d.Tier, ID: d.identity.Key}
	if k.ID == "" {
		k.ID, k.Anonymous = d.identity.Addr, true
	}
	return k
}
