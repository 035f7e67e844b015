package core

import (
	"context"
	"fmt"
)

// resolve finds under which tier to judge d.identity. It is false when a policy
// has decided without one.
func (l *Limiter) resolve(d *Decision) bool {
	plans := l.shared.plans.Load()
	id := &d.identity
	if id.Key == "" {
		return l.obey(d, plans, l.onMissing, Missing, AllowedMissing)
	}
	tier := id.Tier
	if tier == "" {
		tier = plans.plans.Default
	}
	d.grant = plans.of(tier)
	d.Tier = tier
	if d.grant == nil {
		d.unknown = true
		if !l.obey(d, plans, l.onUnknownTier, UnknownTier, AllowedUnknownTier) {
			return false
		}
	}
	if len(plans.overrides) > 0 {
		if own := plans.overrides[id.Key]; own != nil {
			d.grant = own
		}
	}
	return true
}

// obey carries out a policy. It is true when the policy names a tier to judge.
func (l *Limiter) obey(d *Decision, plans *snapshot, p Policy, refused, allowed Outcome) bool {
	d.Tier = ""
	switch p.kind {
	case policyAllow:
		d.Outcome = allowed
		return false
	case policyDefault:
		d.Tier = plans.plans.Default
	case policyTier:
		d.Tier = p.tier
	case policyDeny:
		d.status = int16(p.status) //nolint:gosec // three digits
	case policyUnset:
	}
	d.grant = plans.tiers[d.Tier]
	d.Outcome = refused
	return d.grant != nil
}

// needsStore is false when the quota or the cost alone decides, or nobody waits
// for the answer any more.
func (l *Limiter) needsStore(ctx context.Context, d *Decision, cost int) bool {
	switch g := d.grant; {
	case g.quota.kind == quotaUnlimited:
		d.Outcome = AllowedUnlimited
	case g.quota.kind == quotaBlocked:
		d.refuse(TierBlocked)
	case cost < 0:
		d.refuse(InvalidCost)
		d.Err = fmt.Errorf("core: cost %d is below 0", cost)
	case int64(cost) > g.most:
		d.refuse(CostExceedsLimit)
		d.Limit = tightest(g.limits)
	default:
		err := ctx.Err()
		if err != nil {
			d.refuse(Canceled)
			d.Err = err
		}
		return err == nil
	}
	return false
}
