package redisstore

import (
	"context"
	"strconv"

	"github.com/tierlimit/tierlimit/core"
)

// takeLone does r to a lone GCRA window: its scripts reply with one number, and
// the rest follows from what is known here.
func (s *Store) takeLone(ctx context.Context, set *set, r *core.Request) (core.Result, error) {
	key, cost, rate := s.keys.plain(&r.Key), bounded(r.Cost), set.rates[0]
	if r.Mode == core.Charge && cost > 0 {
		debt, err := s.chargeLone(ctx, set, key, cost)
		if err != nil {
			return core.Result{}, err
		}
		return chargeResult(set, r, debt), nil
	}
	mode := "look"
	if r.Mode == core.Force {
		mode = "force"
	}
	args := []string{mode, strconv.FormatInt(rate.inTime(cost), 10), strconv.FormatInt(rate.tau, 10)}
	debt, err := s.integer(ctx, gcraFixScript, key, s.withNow(args))
	if err != nil {
		return core.Result{}, err
	}
	res := core.Result{Allowed: true}
	if r.Mode != core.Force {
		wait := rate.wait(debt, cost)
		res.Allowed = wait == 0
		res.Levels[0] = rate.level(debt, wait)
		return res, nil
	}
	after, taken := rate.force(debt, cost)
	res.Levels[0] = rate.level(after, 0)
	res.Charged = clampInt(taken)
	if taken == cost {
		res.Charged = r.Cost
	}
	return res, nil
}

// takePair charges two GCRA windows.
func (s *Store) takePair(ctx context.Context, set *set, r *core.Request) (core.Result, error) {
	main := s.keys.set(&r.Key, set.name)
	debts, err := s.integers(ctx, gcra2Script, main, nil, s.withNow(set.charge(bounded(r.Cost))), 2)
	if err != nil {
		return core.Result{}, err
	}
	return chargeResult(set, r, debts...), nil
}

// chargeResult reads the reply to a charge: debts, the first as -1 - r when it
// was refused.
func chargeResult(set *set, r *core.Request, debts ...int64) core.Result {
	res := core.Result{Allowed: debts[0] >= 0}
	if res.Allowed {
		res.Charged = r.Cost
	} else {
		debts[0] = -1 - debts[0]
	}
	for i, debt := range debts {
		rate, wait := set.rates[i], int64(0)
		if !res.Allowed {
			wait = rate.wait(debt, bounded(r.Cost))
		}
		res.Levels[set.order[i]] = rate.level(debt, wait)
	}
	return res
}
