package httplimit_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/memstore"
)

// start is where every clock begins: 14 s into a minute, 1790947094 in Unix
// seconds.
var start = time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC)

// ana is a caller on the only plan of most tests.
var ana = core.Identity{Key: "key_ana", Tier: "free"}

// newLimiter judges tier free by q at start.
func newLimiter(tb testing.TB, q core.Quota, opts ...core.Option) *core.Limiter {
	tb.Helper()
	return newLimiterFor(tb, "free", q, opts...)
}

// newLimiterFor is newLimiter with another name for the only tier.
func newLimiterFor(tb testing.TB, tier string, q core.Quota, opts ...core.Option) *core.Limiter {
	tb.Helper()
	clock := fakeclock.New(start)
	store := memstore.New(memstore.WithClock(clock))
	return newLimiterOver(tb, store, tier, q, append([]core.Option{core.WithClock(clock)}, opts...)...)
}

func newLimiterOver(tb testing.TB, store core.Store, tier string, q core.Quota, opts ...core.Option) *core.Limiter {
	tb.Helper()
	l, err := core.New(store, core.Plans{Tiers: map[string]core.Quota{tier: q}, Default: tier}, opts...)
	require.NoError(tb, err)
	return l
}

// allowed is a first request's decision under q.
func allowed(tb testing.TB, q core.Quota) core.Decision {
	tb.Helper()
	d := newLimiter(tb, q).Take(tb.Context(), ana, 1)
	require.Equal(tb, core.Allowed, d.Outcome)
	return d
}

// refused is the decision about a request that q has no room for.
func refused(tb testing.TB, q core.Quota) core.Decision {
	tb.Helper()
	l := newLimiter(tb, q)
	for range 1000 {
		if d := l.Take(tb.Context(), ana, 1); d.Outcome != core.Allowed {
			return d
		}
	}
	require.FailNow(tb, "a thousand requests were allowed")
	return core.Decision{}
}

var errDown = errors.New("the store is down at 10.1.2.3")

// downStore fails.
type downStore struct{}

func (downStore) Take(context.Context, core.Request) (core.Result, error) {
	return core.Result{}, errDown
}

func (downStore) Reset(context.Context, core.Key, []core.Limit) error { return errDown }

// degradedStore answers as a fallback does.
type degradedStore struct{ core.Store }

func (s degradedStore) Take(ctx context.Context, r core.Request) (core.Result, error) {
	res, err := s.Store.Take(ctx, r)
	res.Degraded = true
	return res, err
}

// everyOutcome is one real decision for each outcome but Allowed and OverQuota.
func everyOutcome(tb testing.TB) []core.Decision {
	tb.Helper()
	ctx := tb.Context()
	gone, hangUp := context.WithCancel(ctx)
	hangUp()
	ten := core.PerMinute(10)
	nobody, gold := core.Identity{}, core.Identity{Key: "key_eva", Tier: "gold"}

	decisions := []core.Decision{
		newLimiter(tb, ten, core.OnMissing(core.Deny(http.StatusUnauthorized))).Take(ctx, nobody, 1),
		newLimiter(tb, ten, core.OnUnknownTier(core.Deny(http.StatusPaymentRequired))).Take(ctx, gold, 1),
		newLimiter(tb, ten).Take(ctx, ana, 50),
		newLimiter(tb, core.Blocked()).Take(ctx, ana, 1),
		newLimiterOver(tb, downStore{}, "free", ten, core.OnStorageError(core.Deny(http.StatusServiceUnavailable))).Take(ctx, ana, 1),
		newLimiter(tb, ten).Fail(ctx, errors.New("the user table is locked")),
		newLimiter(tb, ten).Take(ctx, ana, -1),
		newLimiter(tb, ten).Take(gone, ana, 1),
		newLimiter(tb, core.Unlimited()).Take(ctx, ana, 1),
		newLimiter(tb, ten, core.OnMissing(core.Allow)).Take(ctx, nobody, 1),
		newLimiter(tb, ten, core.OnUnknownTier(core.Allow)).Take(ctx, gold, 1),
		newLimiterOver(tb, downStore{}, "free", ten).Take(ctx, ana, 1),
	}
	outcomes := make([]core.Outcome, 0, len(decisions))
	for _, d := range decisions {
		outcomes = append(outcomes, d.Outcome)
	}
	require.Equal(tb, []core.Outcome{
		core.Missing, core.UnknownTier, core.CostExceedsLimit, core.TierBlocked, core.StorageFailed, core.IdentifyFailed,
		core.InvalidCost, core.Canceled, core.AllowedUnlimited, core.AllowedMissing, core.AllowedUnknownTier, core.AllowedOnStorageError,
	}, outcomes)
	return decisions
}
