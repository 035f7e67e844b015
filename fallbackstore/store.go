package fallbackstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// Store asks one store, and another one while that fails. It is made by [New]
// and safe for concurrent use. On the healthy path it adds a few nanoseconds
// and allocates nothing.
type Store struct {
	primary, local core.Store
	share          float64
	onChange       func(State)
	shares         shares
	state          atomic.Uint32 // a State
	told           atomic.Uint32 // the State that onChange knows
	telling        atomic.Bool
}

var _ core.Store = (*Store)(nil)

// New makes a store that asks primary, and local for what primary answers with
// an error. It panics when one of them is nil.
func New(primary, local core.Store, opts ...Option) *Store {
	if primary == nil || local == nil {
		panic("fallbackstore: New needs two stores") //nolint:forbidigo // wiring fault, at start-up
	}
	s := &Store{primary: primary, local: local, share: 1}
	for _, set := range opts {
		set(s)
	}
	s.shares.init(s.share)
	return s
}

// State is which store judges.
func (s *Store) State() State { return State(s.state.Load()) }

// Take does r in the primary, or locally when that fails; see [core.Store].
// Some errors are handed on: that ctx ended, core.ErrUnsupported, and any for a
// give-back of what the primary had charged, which the local store never took.
// When both fail, the error joins both.
//
// A local refusal of a cost that the share's bucket can never hold tells no wait:
// RetryAfter is 0 in all its levels.
func (s *Store) Take(ctx context.Context, r core.Request) (core.Result, error) {
	if r.Degraded {
		return s.takeLocal(ctx, r)
	}
	res, err := s.primary.Take(ctx, r)
	switch {
	case err == nil:
		// A refusal does not tell that the primary is back: a cache in front of
		// it may have answered, and a Redis that cannot write refuses as well.
		if res.Allowed && r.Cost > 0 && r.Mode != core.Look {
			s.turn(StateShared)
		}
		return res, nil
	case ended(ctx, err), errors.Is(err, core.ErrUnsupported):
		return core.Result{}, err //nolint:wrapcheck // callers branch on it
	}
	s.turn(StateDegraded)
	if r.Mode == core.Force && r.Cost < 0 {
		return core.Result{}, err //nolint:wrapcheck // callers branch on it
	}
	res, localErr := s.takeLocal(ctx, r)
	if localErr != nil {
		return core.Result{}, fmt.Errorf("fallbackstore: %w", errors.Join(err, localErr))
	}
	return res, nil
}

func (s *Store) takeLocal(ctx context.Context, r core.Request) (core.Result, error) {
	r.Limits = s.shares.of(r.Limits)
	res, err := s.local.Take(ctx, r)
	res.Degraded = true
	if !res.Allowed && !holds(r.Limits, r.Cost) {
		// Waiting does not help here, and nobody knows when the primary is back.
		for i := range res.Levels {
			res.Levels[i].RetryAfter = 0
		}
	}
	return res, err //nolint:wrapcheck // callers branch on it
}

// ended tells whether err is the end of the caller's own ctx. A primary that
// watches the deadline itself may be earlier than ctx, by a moment.
func ended(ctx context.Context, err error) bool {
	if end := ctx.Err(); end != nil {
		return errors.Is(err, end)
	}
	deadline, ok := ctx.Deadline()
	return ok && errors.Is(err, context.DeadlineExceeded) && !time.Now().Before(deadline)
}

// Reset forgets key in both stores; see [core.Store]. The error joins those of
// both.
func (s *Store) Reset(ctx context.Context, key core.Key, limits []core.Limit) error {
	return errors.Join(
		s.primary.Reset(ctx, key, limits),
		s.local.Reset(ctx, key, s.shares.of(limits)),
	)
}

// turn notes which store judges.
func (s *Store) turn(to State) {
	if State(s.state.Load()) == to {
		return
	}
	s.state.Store(uint32(to))
	// One tells at a time, and again until nothing is new: whoever was overtaken
	// would have the last word otherwise.
	for s.onChange != nil && s.told.Load() != s.state.Load() && s.telling.CompareAndSwap(false, true) {
		s.tell()
	}
}

func (s *Store) tell() {
	defer s.telling.Store(false)
	if now := s.state.Load(); s.told.Swap(now) != now {
		// The answer that told has charged already, and must get to its caller.
		defer func() {
			if v := recover(); v != nil {
				slog.Error("fallbackstore: the function of WithStateChange panicked", "state", State(now).String(), "panic", v)
			}
		}()
		s.onChange(State(now))
	}
}
