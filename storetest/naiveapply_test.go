package storetest_test

import (
	"math"
	"slices"

	"github.com/tierlimit/tierlimit/core"
)

// apply does r to the cells of its limits.
func (s *naiveStore) apply(cells []*cell, now int64, r core.Request) core.Result {
	res := core.Result{Allowed: true, Charged: r.Cost}
	cost := int64(r.Cost)
	var longest int64
	before := make([]cell, len(cells)) // as if nothing was asked
	mended := make([]bool, len(cells))
	for i, c := range cells {
		before[i] = *c
		before[i].log = slices.Clone(c.log)
		mended[i] = c.mend(now) && !s.noMendOnRefusal && (!s.mendOfRefuserOnly || c.wait(now, cost) > 0)
		if wait := c.wait(now, cost); wait > 0 && r.Mode != core.Force {
			res.Allowed = false
			longest = max(longest, wait)
			res.Levels[i].RetryAfter = duration(wait)
		}
	}
	keep := true // what this has changed
	switch {
	case r.Mode == core.Look, r.Mode == core.Charge && cost == 0:
		res.Charged = 0
		keep = s.lookMends
	case r.Mode == core.Force:
		if most := s.force(cells, now, r.Cost); !s.chargedIsCost {
			res.Charged = most
		}
	case res.Allowed:
		for _, c := range cells {
			c.charge(now, cost)
		}
	default:
		res.Charged = 0
		keep = s.refused(cells, now, cost)
	}
	for i, c := range cells {
		remaining, reset := c.level(now)
		res.Levels[i].Remaining, res.Levels[i].ResetAfter = int(remaining), duration(reset)
		if !res.Allowed && s.retryOnFit {
			res.Levels[i].RetryAfter = duration(longest)
		}
		if !keep && (res.Allowed || r.Mode == core.Look || !mended[i]) {
			*c = before[i]
		}
	}
	return res
}

// refused does what a refusal must not do, and tells whether it did.
func (s *naiveStore) refused(cells []*cell, now, cost int64) bool {
	for _, c := range cells {
		if s.refusalConsumes {
			c.charge(now, c.room(now))
		}
		if s.chargesSome && c.wait(now, cost) == 0 {
			c.charge(now, cost)
		}
		if s.refusalCounts && c.limit.Algorithm == core.FixedWindow || s.refusalPushes && c.limit.Algorithm == core.GCRA {
			c.charge(now, cost)
		}
	}
	return s.refusalConsumes || s.chargesSome || s.refusalCounts || s.refusalPushes
}

func (s *naiveStore) force(cells []*cell, now int64, cost int) int {
	if cost < 0 {
		for _, c := range cells {
			c.giveBack(now, -max(int64(cost), -math.MaxInt64))
		}
		return cost
	}
	least, most := int64(cost), int64(0)
	for _, c := range cells {
		units := min(int64(cost), c.room(now))
		if s.forceRefuses && units < int64(cost) {
			units = 0
		}
		least, most = min(least, units), max(most, units)
		switch {
		case s.forceAll:
			c.charge(now, int64(cost))
		case units < int64(cost) && c.limit.Algorithm == core.GCRA && !s.forceRefuses:
			c.tat = max(c.tat, now+c.tau()) // a part of a unit too
		default:
			c.charge(now, units)
		}
	}
	if s.chargedIsMost {
		return int(most)
	}
	return int(least)
}
