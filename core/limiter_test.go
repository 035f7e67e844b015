package core_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
)

var errDown = errors.New("connection refused")

func TestNewMakesNoStoreCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, threeTiers())
	r.with(t, core.WithScope("reports"))
	require.NoError(t, r.SetPlans(threeTiers()))
	require.Zero(t, r.store.calls())
	require.Empty(t, r.store.resets)
}

func TestTakeTellsWhatStands(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerMinute(10)))
	d := r.Take(t.Context(), ana, 4)
	require.Equal(t, core.Request{Key: core.Key{Tier: "free", ID: "key_ana"}, Limits: core.PerMinute(10).Limits(), Cost: 4}, r.store.last(t))
	require.Equal(t, core.Allowed, d.Outcome)
	require.Equal(t, "free", d.Tier)
	require.Equal(t, 4, d.Asked)
	require.Equal(t, 4, d.Cost)
	require.Equal(t, core.PerMinute(10).Limits()[0], d.Limit)
	require.Equal(t, core.Level{Remaining: 6, ResetAfter: 24 * sec}, d.Level)
	require.Equal(t, start, d.At)
	require.False(t, d.Degraded)
	require.False(t, d.Shadowed)
	require.NoError(t, d.Err)
	require.True(t, d.Enforced())

	d = r.Take(t.Context(), ana, 7)
	require.Equal(t, core.OverQuota, d.Outcome)
	require.Equal(t, 429, d.Status())
	require.Equal(t, 7, d.Asked)
	require.Zero(t, d.Cost)
	require.Equal(t, core.Level{Remaining: 6, ResetAfter: 24 * sec, RetryAfter: 6 * sec}, d.Level)
	r.clock.Advance(6 * sec)
	require.True(t, r.Take(t.Context(), ana, 7).Allowed(), "who waits as told is let in")
}

func TestAtIsTheStoresClockWhereItTellsElseTheLimiters(t *testing.T) {
	t.Parallel()
	clock := fakeclock.New(start)
	own := fakeclock.New(start.Add(hour))
	store := newStore(clock)
	l, err := core.New(store, only("free", core.PerMinute(10)), core.WithClock(own))
	require.NoError(t, err)
	require.Equal(t, start, l.Take(t.Context(), ana, 1).At)
	store.set(func(s *refStore) { s.silent = true })
	require.Equal(t, start.Add(hour), l.Take(t.Context(), ana, 1).At)
	require.Equal(t, start.Add(hour), l.Take(t.Context(), ana, 11).At)
}

func TestSystemClockIsTheDefault(t *testing.T) {
	t.Parallel()
	l, err := core.New(newStore(core.SystemClock), only("free", core.PerMinute(10)))
	require.NoError(t, err)
	before := time.Now()
	d := l.Take(t.Context(), ana, 1)
	require.False(t, d.At.Before(before))
	require.False(t, d.At.After(time.Now()))
	require.Equal(t, 10, d.Refund(t.Context()).Level.Remaining)
}

func TestUnlimitedAndBlockedNeverAskTheStore(t *testing.T) {
	t.Parallel()
	r := newRig(t, threeTiers(), core.OnStorageError(core.Deny(503)))
	r.store.fail = errDown
	for range 100 {
		d := r.Take(t.Context(), core.Identity{Key: "key_vip", Tier: "vip"}, math.MaxInt)
		require.Equal(t, core.AllowedUnlimited, d.Outcome)
		require.Zero(t, d.Limit)
		d = r.Take(t.Context(), core.Identity{Key: "key_bad", Tier: "banned"}, 1)
		require.Equal(t, core.TierBlocked, d.Outcome)
		require.Equal(t, 403, d.Status())
	}
	require.Zero(t, r.store.calls())
}

func TestCostBeyondTheBurstIsRefusedForGood(t *testing.T) {
	t.Parallel()
	plans := only("free", core.PerMinute(10))
	plans.Tiers["pro"] = core.PerMinute(100).And(core.PerSecond(20).WithBurst(40)).And(core.PerDay(1000).Using(core.FixedWindow))
	r := newRig(t, plans)
	for _, cost := range []int{11, 50, 200_000_000, math.MaxInt} {
		d := r.Take(t.Context(), ana, cost)
		require.Equal(t, core.CostExceedsLimit, d.Outcome)
		require.Equal(t, 403, d.Status())
		require.Equal(t, cost, d.Asked)
		require.Zero(t, d.Cost)
		require.Zero(t, d.Level, "no wait helps")
		require.Equal(t, 10, d.Limit.Burst)
		require.Empty(t, remaining(d))
	}
	d := r.Take(t.Context(), core.Identity{Key: "key_pia", Tier: "pro"}, 41)
	require.Equal(t, core.CostExceedsLimit, d.Outcome)
	require.Equal(t, 40, d.Limit.Burst, "the window that it can never fit")
	require.Zero(t, r.store.calls())
	require.Equal(t, 9, r.Take(t.Context(), ana, 1).Level.Remaining)
	require.Zero(t, r.Take(t.Context(), core.Identity{Key: "key_eva", Tier: "free"}, 10).Level.Remaining, "just the burst fits")
}

func TestInvalidCostComesBeforeAllButWhatNeedsNoCost(t *testing.T) {
	t.Parallel()
	r := newRig(t, threeTiers())
	for _, cost := range []int{-1, math.MinInt} {
		d := r.Take(t.Context(), ana, cost)
		require.Equal(t, core.InvalidCost, d.Outcome)
		require.Equal(t, 500, d.Status())
		require.Error(t, d.Err)
		require.Zero(t, d.Cost)
		require.Equal(t, core.InvalidCost, r.Peek(t.Context(), ana, cost).Outcome)
	}
	require.Equal(t, core.InvalidCost, r.Take(t.Context(), core.Identity{Addr: "203.0.113.9"}, -1).Outcome)
	require.Equal(t, core.AllowedUnlimited, r.Take(t.Context(), core.Identity{Key: "k", Tier: "vip"}, -1).Outcome)
	require.Equal(t, core.TierBlocked, r.Take(t.Context(), core.Identity{Key: "k", Tier: "banned"}, -1).Outcome)
	open := r.with(t, core.OnMissing(core.Allow), core.OnUnknownTier(core.Deny(402)))
	require.Equal(t, core.AllowedMissing, open.Take(t.Context(), core.Identity{}, -1).Outcome)
	require.Equal(t, core.UnknownTier, open.Take(t.Context(), core.Identity{Key: "k", Tier: "gold"}, -1).Outcome)
	require.Zero(t, r.store.calls())
}

func TestFreeRequestIsLetThroughWhenNothingIsLeft(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerMinute(5)))
	d := r.Take(t.Context(), ana, 0)
	require.Equal(t, core.Allowed, d.Outcome)
	require.Equal(t, core.Level{Remaining: 5}, d.Level)
	r.Take(t.Context(), ana, 5)
	d = r.Take(t.Context(), ana, 0)
	require.Equal(t, core.Allowed, d.Outcome)
	require.Equal(t, core.Level{Remaining: 0, ResetAfter: minute}, d.Level)
}

func TestStoreThatFailsIsThePolicysBusiness(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerMinute(10)))
	r.store.fail = errDown
	d := r.Take(t.Context(), ana, 1)
	require.Equal(t, core.AllowedOnStorageError, d.Outcome)
	require.True(t, d.Allowed())
	require.Equal(t, 200, d.Status())
	require.Equal(t, "free", d.Tier)
	require.Zero(t, d.Cost)
	require.Zero(t, d.Limit)
	require.Empty(t, remaining(d))
	require.Equal(t, start, d.At)
	require.ErrorIs(t, d.Err, errDown)
	require.EqualError(t, d.Err, "storage error: connection refused")

	for _, status := range []int{503, 429} {
		d = r.with(t, core.OnStorageError(core.Deny(status))).Take(t.Context(), ana, 1)
		require.Equal(t, core.StorageFailed, d.Outcome)
		require.Equal(t, status, d.Status())
		require.ErrorIs(t, d.Err, errDown)
	}
}

func TestStoreThatLacksAnAlgorithmRefusesWhateverThePolicy(t *testing.T) {
	t.Parallel()
	for _, p := range []core.Policy{core.Allow, core.Deny(429)} {
		r := newRig(t, only("free", sliding(10)), core.OnStorageError(p))
		r.store.fail = fmt.Errorf("tiny store: %w", core.ErrUnsupported)
		d := r.Take(t.Context(), ana, 1)
		require.Equal(t, core.StorageFailed, d.Outcome)
		require.Equal(t, 503, d.Status())
		require.ErrorIs(t, d.Err, core.ErrUnsupported)
	}
}

func TestCallerThatHungUpIsNoStoreFailure(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerMinute(10)))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	d := r.Take(gone, ana, 1)
	require.Equal(t, core.Canceled, d.Outcome)
	require.Equal(t, 499, d.Status())
	require.False(t, d.Allowed())
	require.ErrorIs(t, d.Err, context.Canceled)
	require.Equal(t, core.Canceled, r.Peek(gone, ana, 1).Outcome)
	require.Zero(t, r.store.calls())

	// During the check.
	ctx, cancel := context.WithCancel(t.Context())
	r.store.answer = func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return fmt.Errorf("reading a reply: %w", ctx.Err())
	}
	d = r.Take(ctx, ana, 1)
	require.Equal(t, core.Canceled, d.Outcome)
	require.ErrorIs(t, d.Err, context.Canceled)
	require.EqualError(t, d.Err, "reading a reply: context canceled")

	// The caller's own deadline.
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(ms))
	defer cancel()
	r.store.answer = func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	d = r.Take(late, ana, 1)
	require.Equal(t, core.Canceled, d.Outcome)
	require.ErrorIs(t, d.Err, context.DeadlineExceeded)
}

// overdue is a context whose deadline has passed, and whose timer has not run yet.
type overdue struct{ context.Context } //nolint:containedctx // it is one

func (overdue) Deadline() (time.Time, bool) { return time.Now().Add(-time.Nanosecond), true }

// A store that keeps the caller's deadline itself may be earlier than ctx.
func TestADeadlineThatHasJustPassedIsTheCallersOwn(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerMinute(10)))
	r.store.fail = fmt.Errorf("no answer: %w", context.DeadlineExceeded)
	d := r.Take(overdue{t.Context()}, ana, 1)
	require.Equal(t, core.Canceled, d.Outcome)
	require.EqualError(t, d.Err, "no answer: context deadline exceeded")
	r.store.fail = errDown
	require.Equal(t, core.AllowedOnStorageError, r.Take(overdue{t.Context()}, ana, 1).Outcome)
}

func TestStoresOwnDeadlineIsAStoreFailure(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerMinute(10)))
	r.store.fail = context.DeadlineExceeded
	require.Equal(t, core.AllowedOnStorageError, r.Take(t.Context(), ana, 1).Outcome)
	r.store.fail = context.Canceled
	require.Equal(t, core.AllowedOnStorageError, r.Take(t.Context(), ana, 1).Outcome)

	ctx, cancel := context.WithCancel(t.Context())
	r.store.fail = nil
	r.store.answer = func(context.Context) error { cancel(); return errDown }
	require.Equal(t, core.AllowedOnStorageError, r.Take(ctx, ana, 1).Outcome, "another fault, that the caller had gone meanwhile does not change it")
}

func TestAThousandAtOnceOnABurstOfFifty(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerMinute(50)))
	var admitted, units atomic.Int64
	var wg sync.WaitGroup
	for range 1000 {
		wg.Go(func() {
			d := r.Take(t.Context(), ana, 1)
			units.Add(int64(d.Cost))
			if d.Allowed() {
				admitted.Add(1)
			}
		})
	}
	wg.Wait()
	require.Equal(t, int64(50), admitted.Load())
	require.Equal(t, int64(50), units.Load())
}

func TestOneLimiterServesManyUsersOfAFewTiers(t *testing.T) {
	t.Parallel()
	plans := threeTiers()
	plans.Overrides = map[string]core.Quota{"user 7": core.PerMinute(2)}
	r := newRig(t, plans)
	for i := range 10_000 {
		id := core.Identity{Key: fmt.Sprintf("user %d", i), Tier: []string{"free", "vip", "anonymous", "banned", "gold"}[i%5]}
		r.Take(t.Context(), id, 1)
	}
	require.Len(t, r.store.keys(), 6000, "memory is for those who are limited")
}
