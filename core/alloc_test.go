package core_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// nothing is a store that answers at once.
type nothing struct{ allowed bool }

func (s nothing) Take(_ context.Context, r core.Request) (core.Result, error) {
	res := core.Result{Allowed: s.allowed, Now: start}
	for i := range r.Limits {
		res.Levels[i] = core.Level{Remaining: 9, ResetAfter: 6 * time.Second}
	}
	return res, nil
}

func (nothing) Reset(context.Context, core.Key, []core.Limit) error { return nil }

func TestTakeAllocatesNothing(t *testing.T) {
	told := 0
	for name, opts := range map[string][]core.Option{
		"alone":       nil,
		"observed":    {core.WithObserver(func(context.Context, core.Event) { told++ })},
		"with a rule": {core.OnUnknownTier(core.Deny(403)), core.WithScope("reports")},
	} {
		plans := only("free", core.PerMinute(10))
		plans.Overrides = map[string]core.Quota{"acme": core.PerMinute(99)}
		for _, allowed := range []bool{true, false} {
			l, err := core.New(nothing{allowed: allowed}, plans, opts...)
			require.NoError(t, err)
			ctx := t.Context()
			for _, id := range []core.Identity{ana, {Key: "acme", Tier: "free"}, {Key: "k", Tier: "gold"}, {Addr: "203.0.113.9"}} {
				require.Zero(t, testing.AllocsPerRun(100, func() { l.Take(ctx, id, 1) }), "%s %+v", name, id)
				require.Zero(t, testing.AllocsPerRun(100, func() { l.Peek(ctx, id, 1) }), "%s %+v", name, id)
			}
		}
	}
	require.Positive(t, told)
}

func TestApplyAllocatesNothingForABucketThatIsThere(t *testing.T) {
	for _, q := range []core.Quota{core.PerMinute(10), fixed(10), core.PerSecond(10).And(core.PerDay(1000))} {
		w := newWalker(q)
		w.spend(t, 1)
		r := core.Request{Limits: w.limits, Cost: 1}
		require.Zero(t, testing.AllocsPerRun(100, func() {
			w.now = w.now.Add(sec)
			core.Apply(&w.state, w.now, r)
		}), q)
	}
}
