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
	p := &prepared{store: s, hash: s.tierHash(tier), rate: rateOf(&limit)}
	return p.charge
}

// prepared is what is the same in all charges of one limit of one tier.
type prepared struct {
	store *Store
	hash  uint64 // of the tier
	rate  rate
}

func (p *prepared) charge(scope, id string, isAddress bool, cost int) (level core.Level, shown time.Time, allowed bool) {
	s := p.store
	now, shown := s.now()
	f := s.fingerprintIn(p.hash, scope, id, isAddress)
	if tat, wait, usual := s.charge(f, clampMoment(now), int64(cost), &p.rate); usual {
		level, allowed = p.rate.level(clampMoment(now), tat, wait), wait == 0
	} else {
		level, allowed = p.chargeAny(f, clampMoment(now), cost)
	}
	s.sweep(now)
	return level, shown, allowed
}

// chargeAny is charge for whatever may come.
func (p *prepared) chargeAny(f fingerprint, now int64, cost int) (level core.Level, allowed bool) {
	var res core.Result
	p.store.takeAny(f, now, &core.Request{Cost: cost}, &p.rate, &res)
	return res.Levels[0], res.Allowed
}
