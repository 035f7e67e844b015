package storetest_test

import (
	"context"
	"sync"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// naivePreparer is a naiveStore with a way for prepared charges that is no
// shorter.
type naivePreparer struct{ *naiveStore }

func (s naivePreparer) Prepare(asked core.Store, tier string, limit core.Limit) core.Prepared {
	if asked != core.Store(s) && !s.preparesForOthers {
		return nil
	}
	if limit.Algorithm != core.GCRA {
		return nil
	}
	if s.preparedForgetsTier {
		tier = ""
	}
	var mu sync.Mutex
	var first *core.Key
	return func(scope, id string, anonymous bool, cost int) (core.Level, time.Time, bool) {
		if s.preparedForgetsScope {
			scope = ""
		}
		if s.preparedChargesOne {
			cost = min(cost, 1)
		}
		key := core.Key{Scope: scope, Tier: tier, ID: id, Anonymous: anonymous && !s.preparedForgetsAnonymous}
		mu.Lock()
		if first == nil {
			first = &key
		}
		if s.preparedKeepsFirstKey {
			key = *first
		}
		mu.Unlock()
		res, _ := s.Take(context.Background(), core.Request{Key: key, Limits: []core.Limit{limit}, Cost: cost})
		if s.preparedWrongNow {
			res.Now = time.Now()
		}
		return res.Levels[0], res.Now, res.Allowed
	}
}
