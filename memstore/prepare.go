package memstore

import (
	"time"

	"github.com/tierlimit/tierlimit/core"
)

var _ core.Preparer = (*Store)(nil)

// Prepare makes charges of a lone GCRA window ready, which saves a third of what
// such a check takes in a [core.Limiter]; see [core.Preparer]. It is nil for any
// other limit, and for a store that has s in it.
func (s *Store) Prepare(asked core.Store, tier string, limit core.Limit) core.Prepared {
	if asked != core.Store(s) || limit.Algorithm != core.GCRA {
		return nil
	}
	p := &prepared{store: s, hash: s.tierHash(tier), rate: rateOf(&limit), limits: []core.Limit{limit}}
	return p.charge
}

// prepared is what is the same in all charges of one limit of one tier.
type prepared struct {
	store  *Store
	hash   uint64 // of the tier
	rate   rate
	limits []core.Limit
}

func (p *prepared) charge(scope, id string, isAddress bool, cost int) (level core.Level, now time.Time, allowed bool) {
	s := p.store
	elapsed, now := s.now()
	moment := clampMoment(elapsed)
	f := s.fingerprintIn(p.hash, scope, id, isAddress)
	if tat, wait, usual := s.charge(f, moment, int64(cost), &p.rate); usual {
		level, allowed = p.rate.level(moment, tat, wait), wait == 0
	} else {
		level, allowed = p.chargeAny(f, moment, cost)
	}
	s.sweep(elapsed)
	return level, now, allowed
}

// chargeAny is charge for whatever may come.
func (p *prepared) chargeAny(f fingerprint, moment int64, cost int) (level core.Level, allowed bool) {
	var res core.Result
	p.store.takeAny(f, moment, &core.Request{Limits: p.limits, Cost: cost}, &p.rate, &res)
	return res.Levels[0], res.Allowed
}
