package rival

import (
	"context"
	"time"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/memstore"
)

// maxKeys is above what any benchmark holds, as the rivals have no bound.
const maxKeys = 1 << 24

// Store is memstore, asked as any core.Store.
func Store() Contender { return store("tierlimit memstore", core.GCRA) }

// Prepared is memstore, asked as a limiter asks it for the usual charge: by what
// it has made ready for the tier.
func Prepared() Contender {
	return Contender{Name: "tierlimit memstore, prepared", Ours: true, Drops: true, Clock: true, Open: func(l Limit) (Check, func()) {
		s := embedded(l)
		charge := s.Prepare(s, "pro", quota(l, core.GCRA).Limits()[0])
		return func(key string) (bool, error) {
			_, _, allowed := charge("", key, false, 1)
			return allowed, nil
		}, nothing
	}}
}

// Algorithms are Store by each of its algorithms.
func Algorithms() []Contender {
	return []Contender{
		store("tierlimit, GCRA", core.GCRA),
		store("tierlimit, FixedWindow", core.FixedWindow),
		store("tierlimit, SlidingLog", core.SlidingLog),
	}
}

// Limiter is a whole core.Limiter over memstore: plans, policy, decision.
func Limiter() Contender {
	return Contender{Name: "tierlimit Limiter.Take", Ours: true, Drops: true, Clock: true, Open: func(l Limit) (Check, func()) {
		plans := core.Plans{Tiers: map[string]core.Quota{"pro": quota(l, core.GCRA)}, Default: "pro"}
		limiter := must(core.New(embedded(l), plans))
		ctx := context.Background()
		return func(key string) (bool, error) {
			d := limiter.Take(ctx, core.Identity{Key: key, Tier: "pro"}, 1)
			return d.Allowed(), d.Err
		}, nothing
	}}
}

func store(name string, algorithm core.Algorithm) Contender {
	return Contender{Name: name, Ours: true, Drops: true, Clock: true, Open: func(l Limit) (Check, func()) {
		var s core.Store = embedded(l)
		limits := quota(l, algorithm).Limits()
		ctx := context.Background()
		return func(key string) (bool, error) {
			r, err := s.Take(ctx, core.Request{Key: core.Key{Tier: "pro", ID: key}, Limits: limits, Cost: 1})
			return r.Allowed, err
		}, nothing
	}}
}

func quota(l Limit, algorithm core.Algorithm) core.Quota {
	q := core.Per(l.Count, l.Window).Using(algorithm)
	if algorithm == core.GCRA {
		q = q.WithBurst(l.burst())
	}
	return q
}

func embedded(l Limit) *memstore.Store {
	opts := []memstore.Option{memstore.WithMaxKeys(maxKeys)}
	if l.Now != nil {
		opts = append(opts, memstore.WithClock(clock(l.Now)))
	}
	return memstore.New(opts...)
}

// clock is a function as a core.Clock.
type clock func() time.Time

func (c clock) Now() time.Time { return c() }
