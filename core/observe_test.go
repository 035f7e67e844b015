package core_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// watch is an observer that remembers.
type watch struct {
	mu     sync.Mutex
	events []core.Event
}

func (w *watch) observe(_ context.Context, e core.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
}

// take returns what was told since the last call.
func (w *watch) take() []core.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	events := w.events
	w.events = nil
	return events
}

func TestObserversAreToldOnceOfEveryDecision(t *testing.T) {
	t.Parallel()
	var w watch
	r := newRig(t, threeTiers(), core.WithObserver(w.observe), core.OnMissing(core.Deny(401)))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context //nolint:containedctx // A row of a table.
		id   core.Identity
		cost int
		want core.Outcome
	}{
		{t.Context(), ana, 1, core.Allowed},
		{t.Context(), ana, 10, core.OverQuota},
		{t.Context(), ana, 11, core.CostExceedsLimit},
		{t.Context(), ana, -1, core.InvalidCost},
		{t.Context(), core.Identity{}, 1, core.Missing},
		{t.Context(), core.Identity{Key: "k", Tier: "vip"}, 1, core.AllowedUnlimited},
		{t.Context(), core.Identity{Key: "k", Tier: "banned"}, 1, core.TierBlocked},
		{gone, ana, 1, core.Canceled},
	} {
		d := r.Take(c.ctx, c.id, c.cost)
		events := w.take()
		require.Len(t, events, 1, c.want)
		require.Equal(t, core.Event{Identity: c.id, Decision: d}, events[0])
		require.Equal(t, c.want, d.Outcome)
	}
	r.store.fail = errDown
	d := r.Take(t.Context(), ana, 1)
	events := w.take()
	require.Len(t, events, 1)
	require.Equal(t, core.AllowedOnStorageError, events[0].Decision.Outcome)
	require.Equal(t, d.Err, events[0].Decision.Err)

	r.Peek(t.Context(), ana, 1)
	require.NoError(t, r.SetPlans(threeTiers()))
	require.Error(t, r.Reset(t.Context(), ana))
	require.Empty(t, w.take())
}

func TestCorrectionsAreToldAsLate(t *testing.T) {
	t.Parallel()
	var w watch
	r := newRig(t, only("free", core.PerHour(25)), core.WithObserver(w.observe))
	d := r.Take(t.Context(), ana, 1)
	require.False(t, w.take()[0].Late)
	for name, correct := range map[string]func() core.Decision{
		"raised":         func() core.Decision { return d.Raise(t.Context(), 5) },
		"raised to less": func() core.Decision { return d.Raise(t.Context(), 0) },
		"refused":        func() core.Decision { return d.Raise(t.Context(), 25) },
		"too dear":       func() core.Decision { return d.Raise(t.Context(), 26) },
		"settled":        func() core.Decision { return d.Settle(t.Context(), 5) },
		"given back":     func() core.Decision { return d.Refund(t.Context()) },
	} {
		got := correct()
		events := w.take()
		require.Len(t, events, 1, name)
		require.Equal(t, core.Event{Identity: ana, Decision: got, Late: true}, events[0], name)
	}
	d.Raise(t.Context(), 1)
	d.Settle(t.Context(), 1)
	r.clock.Advance(hour + us)
	d.Refund(t.Context())
	require.Empty(t, w.take(), "nothing was corrected")
}

func TestUnknownTierIsToldEveryTimeWhateverThePolicy(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]core.Policy{
		"default": core.UseDefault, "tier": core.UseTier("vip"), "blocked": core.UseTier("banned"), "deny": core.Deny(403), "allow": core.Allow,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w watch
			r := newRig(t, threeTiers(), core.WithObserver(w.observe), core.OnUnknownTier(p))
			gold := core.Identity{Key: "key_eva", Tier: "gold"}
			for range 2 {
				r.Take(t.Context(), gold, 1)
			}
			events := w.take()
			require.Len(t, events, 2)
			for _, e := range events {
				require.True(t, e.UnknownTier)
				require.Equal(t, "gold", e.Identity.Tier)
				require.NotEqual(t, "gold", e.Decision.Tier, "what a caller says is no label")
			}
			r.Take(t.Context(), ana, 1)
			require.False(t, w.take()[0].UnknownTier)
		})
	}
}

func TestElapsedIsByTheLimitersClock(t *testing.T) {
	t.Parallel()
	var w watch
	r := newRig(t, only("free", core.PerHour(25)), core.WithObserver(w.observe))
	r.store.answer = func(context.Context) error { r.clock.Advance(30 * ms); return nil }
	d := r.Take(t.Context(), ana, 1)
	require.Equal(t, 30*ms, w.take()[0].Elapsed)
	d.Raise(t.Context(), 25).Refund(t.Context())
	events := w.take()
	require.Equal(t, 30*ms, events[0].Elapsed)
	require.Equal(t, 30*ms, events[1].Elapsed)
	require.Len(t, events, 2)
}

func TestObserverThatPanicsChangesNothing(t *testing.T) {
	t.Parallel()
	var w watch
	r := newRig(t, only("free", core.PerHour(25)),
		core.WithObserver(func(context.Context, core.Event) { panic("a hook") }),
		core.WithObserver(w.observe),
		core.WithObserver(func(_ context.Context, e core.Event) { panic(errors.New(e.Decision.Tier)) }))
	d := r.Take(t.Context(), ana, 1)
	require.True(t, d.Allowed())
	require.Len(t, w.take(), 1, "the others still run")
	require.Equal(t, 20, d.Raise(t.Context(), 20).Cost)
	require.Len(t, w.take(), 1)
	require.Equal(t, core.IdentifyFailed, r.Fail(t.Context(), errDown).Outcome)
	require.Equal(t, 5, r.left(t, ana))
}

func TestObserverMayAskTheLimiter(t *testing.T) {
	t.Parallel()
	var r *rig
	told := 0
	r = newRig(t, only("free", core.PerHour(25)), core.WithObserver(func(ctx context.Context, e core.Event) {
		told++
		require.True(t, r.Peek(ctx, e.Identity, 1).Allowed())
		require.NoError(t, r.SetPlans(r.Plans()))
		_, err := r.With(core.OnMissing(core.UseTier("free")))
		require.NoError(t, err)
	}))
	r.Take(t.Context(), ana, 1)
	require.Equal(t, 1, told)
}

func TestShadowTierIsCountedByTierAndReasonAndHurtsNobody(t *testing.T) {
	t.Parallel()
	counts := map[[2]string]int{}
	plans := core.Plans{Tiers: map[string]core.Quota{
		"free": core.PerMinute(2),
		"pro":  core.PerMinute(3).Shadow(),
		"ban":  core.Blocked().Shadow(),
	}}
	r := newRig(t, plans, core.WithObserver(func(_ context.Context, e core.Event) {
		if e.Decision.Shadowed {
			counts[[2]string{e.Decision.Tier, e.Decision.Outcome.String()}]++
		}
	}))
	pro := core.Identity{Key: "key_pia", Tier: "pro"}
	for i := range 10 {
		d := r.Take(t.Context(), pro, 1)
		require.True(t, d.Allowed())
		require.Equal(t, 200, d.Status())
		require.Equal(t, i >= 3, d.Shadowed)
		require.False(t, d.Enforced())
		if d.Shadowed {
			require.Equal(t, core.OverQuota, d.Outcome)
			require.Equal(t, 20*sec, d.Level.RetryAfter)
			require.Zero(t, d.Cost)
		} else {
			require.Equal(t, 1, d.Cost)
		}
	}
	require.Equal(t, core.CostExceedsLimit, r.Take(t.Context(), pro, 4).Outcome)
	require.True(t, r.Take(t.Context(), core.Identity{Key: "k", Tier: "ban"}, 1).Allowed())
	require.Equal(t, map[[2]string]int{{"pro", "over_quota"}: 7, {"pro", "cost_exceeds_limit"}: 1, {"ban", "tier_blocked"}: 1}, counts)

	for i := range 4 {
		require.Equal(t, i < 2, r.Take(t.Context(), ana, 1).Allowed(), "an enforcing tier refuses as ever")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.False(t, r.Take(gone, pro, 1).Allowed(), "nobody is there to serve")
}
