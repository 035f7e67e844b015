package core

import (
	"context"
	"fmt"
)

// undo gives back what d had charged before its Raise was refused.
func (d *Decision) undo(ctx context.Context, before Decision) {
	d.answered = d.Shadowed && d.Outcome == OverQuota
	d.fallback = 0
	if d.Outcome != OverQuota {
		d.levels, d.Level = nil, Level{}
		if d.Outcome != CostExceedsLimit {
			d.Limit = Limit{}
		}
	}
	if before.Cost == 0 || before.late() {
		return
	}
	if d.Outcome == OverQuota && d.Degraded {
		d.promiseNothing(ctx)
	}
	res, err := before.giveBack(ctx, before.Cost, true)
	switch {
	case err != nil && d.Err == nil:
		d.Err = fmt.Errorf("storage error: %w", err)
	case err == nil && d.Outcome == OverQuota:
		d.At = d.limiter.at(&res)
		d.restore(&res)
	}
}

// promiseNothing takes the wait away where the fallback that refused the rest has
// one for that and none for the whole, whoever charged the first part: it holds
// less than the plan, so waiting may not help.
func (d *Decision) promiseNothing(ctx context.Context) {
	res, err := d.limiter.store.Take(detach(ctx), d.request(Look, d.Asked))
	if err != nil || res.Allowed {
		return
	}
	for _, level := range res.Levels {
		if level.RetryAfter > 0 {
			return
		}
	}
	d.Level.RetryAfter = 0
	if d.levels != nil {
		for i := range d.levels {
			d.levels[i].RetryAfter = 0
		}
	}
}

// restore shows what stands after the give-back of a refused Raise. The wait
// stays: what was missing for the rest then is missing for the whole now.
func (d *Decision) restore(res *Result) {
	for i, limit := range d.grant.limits {
		if d.levels != nil {
			d.levels[i].Remaining, d.levels[i].ResetAfter = res.Levels[i].Remaining, res.Levels[i].ResetAfter
		}
		if limit == d.Limit {
			d.Level.Remaining, d.Level.ResetAfter = res.Levels[i].Remaining, res.Levels[i].ResetAfter
		}
	}
}
