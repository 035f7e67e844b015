package core

import (
	"errors"
	"fmt"
	"slices"
)

// Option sets what a [Limiter] does beside its plans. Later options win.
type Option func(*settings)

// settings are the options of one limiter.
type settings struct {
	onMissing      Policy
	onUnknownTier  Policy
	onStorageError Policy
	observers      []Observer
	scope          string
	clock          Clock
}

func defaults() settings {
	return settings{onMissing: UseDefault, onUnknownTier: UseDefault, onStorageError: Allow, clock: SystemClock}
}

// OnMissing says what happens when nobody was identified. The default is
// [UseDefault]: the default tier, one bucket for each client address.
func OnMissing(p Policy) Option { return func(s *settings) { s.onMissing = p } }

// OnUnknownTier says what happens when the identity's tier is not in the
// plans. The default is [UseDefault]: the default tier's quota in the user's
// own bucket. Observers are told every time, whatever the policy.
func OnUnknownTier(p Policy) Option { return func(s *settings) { s.onUnknownTier = p } }

// OnStorageError says what happens when the store failed or was too slow:
// [Allow], the default, or [Deny]. [UseDefault] and [UseTier] are errors,
// because judging by another tier needs the same store.
func OnStorageError(p Policy) Option { return func(s *settings) { s.onStorageError = p } }

// WithObserver tells o of every decision. It may be given several times; o is
// called in the request's path, after the decision, with no lock held.
func WithObserver(o Observer) Option {
	return func(s *settings) { s.observers = append(slices.Clone(s.observers), o) }
}

// WithScope gives the limiter buckets of its own beside other limiters on the
// same store: one per route, one per product. 1 to 64 bytes of valid UTF-8
// without control characters. Without it, or with "", buckets are shared by
// tier name with every limiter that names no scope.
func WithScope(name string) Option { return func(s *settings) { s.scope = name } }

// WithClock sets the clock behind Decision.At and Event.Elapsed where the
// store tells no time, and behind the age of a give-back; for tests. The
// default is [SystemClock].
func WithClock(c Clock) Option { return func(s *settings) { s.clock = c } }

// apply runs opts over s and returns everything that is wrong with the outcome.
func (s *settings) apply(opts []Option) []error {
	var errs []error
	for i, o := range opts {
		if o == nil {
			errs = append(errs, fmt.Errorf("core: option %d is nil", i+1))
			continue
		}
		o(s)
	}
	for _, o := range s.observers {
		if o == nil {
			errs = append(errs, errors.New("core: WithObserver: the observer is nil"))
		}
	}
	if s.clock == nil {
		errs = append(errs, errors.New("core: WithClock: the clock is nil"))
	}
	if s.scope != "" {
		if err := checkName(s.scope); err != nil {
			errs = append(errs, fmt.Errorf("core: WithScope(%q): %w", s.scope, err))
		}
	}
	if k := s.onStorageError.kind; k == policyDefault || k == policyTier {
		errs = append(errs, errors.New("core: OnStorageError: use Allow or Deny, a tier cannot be judged without the store"))
	}
	return errs
}

// checkPolicies returns what is wrong with the policies under plans; plans is
// nil when they could not be made ready.
func (s *settings) checkPolicies(plans *snapshot) []error {
	var errs []error
	for _, p := range []struct {
		option string
		policy Policy
	}{
		{"OnMissing", s.onMissing},
		{"OnUnknownTier", s.onUnknownTier},
		{"OnStorageError", s.onStorageError},
	} {
		if p.option == "OnStorageError" {
			plans = nil // it names no tier, or apply has said so
		}
		if err := p.policy.check(p.option, plans); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}
