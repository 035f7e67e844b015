package storetest

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// contract is what the interface promises beside its numbers.
func (o opener) contract(t *testing.T) {
	t.Run("zero_key", o.zeroKey)
	t.Run("limits_are_read_only", o.limitsAreReadOnly)
	t.Run("now", o.now)
	t.Run("ended_context", o.endedContext)
	t.Run("beyond_capacity", o.beyondCapacity)
}

func (o opener) zeroKey(t *testing.T) {
	for _, k := range sets(3) {
		t.Run(k.name, func(t *testing.T) {
			s := o.open(t)
			require.Equal(t, 1, s.charge(t, core.Key{}, k.limits, 2).Levels[0].Remaining, "the zero Key is an ordinary key: its bucket holds 3 units")
			require.False(t, s.charge(t, core.Key{}, k.limits, 2).Allowed, "the zero Key is an ordinary key: 1 unit is left, 2 do not fit")
			s.reset(t, core.Key{}, k.limits)
			require.True(t, s.charge(t, core.Key{}, k.limits, 3).Allowed, "the zero Key is an ordinary key: a Reset forgets what it spent")
		})
	}
}

// limitsAreReadOnly hands over a slice with room behind its end, looks whether
// anything in it has changed, and then changes it itself.
func (o opener) limitsAreReadOnly(t *testing.T) {
	const never = "a store must not change Request.Limits: it is shared by all requests of a plan"
	key := core.Key{Tier: "pro", ID: "ana"}
	for _, k := range []set{
		{"gcra", list(gcra(5, time.Minute))},
		{"two_windows", list(sliding(5, time.Hour), gcra(5, time.Minute))},
		{"four_windows", list(sliding(5, time.Hour), gcra(5, 2*time.Hour), fixed(5, 3*time.Hour), gcra(5, time.Minute))},
	} {
		t.Run(k.name, func(t *testing.T) {
			s := o.open(t)
			for _, do := range []op{charge(1), look(1), force(1), force(-1), charge(9)} {
				given := make([]core.Limit, len(k.limits), core.MaxLimits+1)
				copy(given, k.limits)
				s.take(t, core.Request{Key: key, Limits: given, Cost: do.cost, Mode: do.mode})
				require.Equal(t, k.limits, given, never)
				for _, l := range given[len(given):cap(given)] {
					require.Zero(t, l, never)
				}
				for i := range given {
					given[i] = gcra(1, time.Second)
				}
			}
			given := slices.Clone(k.limits)
			s.reset(t, core.Key{Tier: "free", ID: "bob"}, given)
			require.Equal(t, k.limits, given, never)

			res := s.look(t, key, k.limits, 4)
			require.True(t, res.Allowed, "a store must not keep Request.Limits: what its caller writes there afterwards must not be judged by")
			require.Equal(t, 4, res.Levels[0].Remaining, "a store must not keep Request.Limits: 1 of 5 units is spent")
		})
	}
}

func (o opener) now(t *testing.T) {
	s := o.open(t)
	key, limits := core.Key{ID: "ana"}, list(gcra(10, time.Minute))
	for _, d := range []time.Duration{0, 1500 * ms, time.Hour, 999, -200 * ms, 365 * 24 * time.Hour} {
		s.clock.Advance(d)
		for _, do := range []op{charge(1), look(1), charge(100)} {
			now := s.take(t, core.Request{Key: key, Limits: limits, Cost: do.cost, Mode: do.mode}).Now
			clock := s.clock.Now()
			if !now.IsZero() && now.UnixMicro() != clock.UnixMicro() {
				t.Fatalf("Result.Now is the clock's time, to the microsecond, or zero where a store does not tell: want %v, got %v", clock, now)
			}
		}
	}
}

// endedContext accepts an answer as well as the context's error, but nothing
// else, and a store that works afterwards.
func (o opener) endedContext(t *testing.T) {
	for _, k := range sets(10) {
		t.Run(k.name, func(t *testing.T) {
			s := o.open(t)
			key := core.Key{Tier: "pro", ID: "ana"}
			s.look(t, key, k.limits, 1)
			contexts := endedContexts(t)
			for _, ctx := range contexts {
				res, err := s.store.Take(ctx, core.Request{Key: key, Limits: k.limits, Cost: 1})
				if err == nil {
					require.True(t, res.Allowed, "an answer under an ended context is a true one: 1 of 10 fits")
				} else {
					require.ErrorIs(t, err, ctx.Err(), "under an ended context Take returns its error, or answers")
				}
				if err := s.store.Reset(ctx, core.Key{ID: "bob"}, k.limits); err != nil {
					require.ErrorIs(t, err, ctx.Err(), "under an ended context Reset returns its error, or does its work")
				}
			}
			left := s.look(t, key, k.limits, 1).Levels[0].Remaining
			if left > 10 || left < 10-len(contexts) {
				t.Fatalf("a request whose context has ended is charged once or not at all: after two of them 8 to 10 of 10 are left, got %d", left)
			}
		})
	}
}

// endedContexts are one that was canceled and one that is late.
func endedContexts(t *testing.T) []context.Context {
	t.Helper()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	t.Cleanup(cancel)
	return []context.Context{canceled, late}
}

// beyondCapacity asks for what no bucket ever holds, up to what an int holds.
func (o opener) beyondCapacity(t *testing.T) {
	for _, k := range sets(10) {
		t.Run(k.name, func(t *testing.T) {
			s := o.open(t)
			key := core.Key{Tier: "pro", ID: "ana"}
			for _, cost := range []int{11, math.MaxInt32, math.MaxInt} {
				for _, mode := range []core.Mode{core.Charge, core.Look} {
					res, err := s.store.Take(t.Context(), core.Request{Key: key, Limits: k.limits, Cost: cost, Mode: mode})
					s.supported(t, k.limits, err)
					require.NoErrorf(t, err, "%s of 10: a cost beyond the capacity is a refusal, not an error", op{mode, cost})
					require.Falsef(t, res.Allowed, "%s of 10: a cost beyond the capacity is refused, and no arithmetic wraps", op{mode, cost})
					for i := range k.limits {
						require.Positivef(t, res.Levels[i].RetryAfter, "%s of 10: a refusal has a positive RetryAfter", op{mode, cost})
					}
				}
			}
			require.Equal(t, 10, s.look(t, key, k.limits, 1).Levels[0].Remaining, "a refusal charges nothing")
		})
	}
}
