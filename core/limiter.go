package core

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
)

// Limiter decides who may pass. It is made by [New], is safe for concurrent
// use, holds no goroutine and needs no closing. The zero Limiter is not usable.
type Limiter struct {
	*shared
	settings

	system bool      // the clock is this machine's
	epoch  time.Time // from which the age of a charge is reckoned
}

// shared is what a limiter and all that were made from it by With have in common.
type shared struct {
	store Store
	plans atomic.Pointer[snapshot]

	mu     sync.Mutex // orders changes of the plans and of what they must contain
	needed []settings // of every limiter whose policies name a tier
}

// New makes a limiter that judges by plans and keeps what was spent in store.
// The error joins everything that is wrong with the plans and options, each
// fault naming the tier or option. New makes no store call, but lets a [Preparer]
// make ready.
func New(store Store, plans Plans, opts ...Option) (*Limiter, error) {
	var errs []error
	if v := reflect.ValueOf(store); store == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		errs = append(errs, errors.New("core: the store is nil, use memstore.New() for one instance"))
	}
	l := &Limiter{shared: &shared{store: store}, settings: defaults()}
	errs = append(errs, l.apply(opts)...)
	planErrs := plans.check()
	compiled := compile(plans)
	errs = append(errs, planErrs...)
	errs = append(errs, l.checkPolicies(compiled)...)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	compiled.prepare(store)
	l.shared.plans.Store(compiled)
	l.start()
	return l, nil
}

// With makes a limiter with the same store and plans, which a later
// [Limiter.SetPlans] of either reaches, and other policies or another scope:
// one for each route group. It starts from the options of l. Make it once, at
// start-up. The error joins everything that is wrong with opts.
func (l *Limiter) With(opts ...Option) (*Limiter, error) {
	child := &Limiter{shared: l.shared, settings: l.settings}
	errs := child.apply(opts)
	l.mu.Lock()
	defer l.mu.Unlock()
	errs = append(errs, child.checkPolicies(l.shared.plans.Load())...)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	child.start()
	return child, nil
}

// start notes what l needs of the plans, and when it began.
func (l *Limiter) start() {
	l.epoch = l.clock.Now()
	l.system = l.clock == SystemClock
	if l.onMissing.kind == policyTier || l.onUnknownTier.kind == policyTier {
		for _, n := range l.needed {
			if n.onMissing == l.onMissing && n.onUnknownTier == l.onUnknownTier {
				return
			}
		}
		l.needed = append(l.needed, settings{
			onMissing: l.onMissing, onUnknownTier: l.onUnknownTier, onStorageError: Allow,
		})
	}
}

// Plans returns a copy of the plans in force.
func (l *Limiter) Plans() Plans { return l.shared.plans.Load().plans.clone() }

// SetPlans swaps the plans whole for the requests that follow, in l and in
// every limiter that shares its plans. The error joins everything that is
// wrong with p; the plans in force then stay as they are.
//
// A bucket keeps what was spent in it as long as its set of windows stays the
// same; another set, or another tier, is a fresh bucket.
func (l *Limiter) SetPlans(p Plans) error {
	errs := p.check()
	compiled := compile(p)
	if len(errs) == 0 {
		compiled.prepare(l.store)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.needed {
		errs = append(errs, l.needed[i].checkPolicies(compiled)...)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	l.shared.plans.Store(compiled)
	return nil
}

// Reset forgets what id spent in its tier, all windows: its next request meets
// full buckets. It resolves id as Take does; an identity that no tier is
// judged for is an error, an unlimited or blocked tier has nothing to forget.
func (l *Limiter) Reset(ctx context.Context, id Identity) error {
	d := Decision{identity: id}
	if !l.resolve(&d) {
		return fmt.Errorf("core: reset: no tier is judged for this identity: %v", d.Outcome)
	}
	if d.grant.quota.kind != quotaLimited {
		return nil
	}
	if err := l.store.Reset(ctx, d.key(l), d.grant.limits); err != nil {
		return fmt.Errorf("core: reset: %w", err)
	}
	return nil
}

// sameStore tells whether l and o keep their buckets in the same place.
func (l *Limiter) sameStore(o *Limiter) bool {
	if l.shared == o.shared {
		return true
	}
	return reflect.ValueOf(l.store).Comparable() && reflect.ValueOf(o.store).Comparable() && l.store == o.store
}
