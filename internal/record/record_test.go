package record_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/internal/record"
	"github.com/tierlimit/tierlimit/memstore"
)

var (
	ana = core.Identity{Key: "ana", Tier: "free"}
	bea = core.Identity{Key: "bea", Tier: "pro"}
)

func newLimiter(t *testing.T, opts ...core.Option) *core.Limiter {
	t.Helper()
	clock := fakeclock.New(time.Unix(1_790_000_000, 0))
	l, err := core.New(memstore.New(memstore.WithClock(clock)), core.Plans{
		Tiers:   map[string]core.Quota{"free": core.PerMinute(10), "pro": core.PerMinute(100)},
		Default: "free",
	}, append([]core.Option{core.WithClock(clock)}, opts...)...)
	require.NoError(t, err)
	return l
}

// terms write the tier of the decision into a header.
func terms(l *core.Limiter) *record.Terms {
	return &record.Terms{Limiter: l, Headers: func(h http.Header, d core.Decision) { h.Set("Tier", d.Tier) }}
}

func left(t *testing.T, l *core.Limiter, id core.Identity) int {
	t.Helper()
	return l.Peek(t.Context(), id, 0).Level.Remaining
}

func newRecord(t *testing.T) *record.Record {
	t.Helper()
	r, fresh := record.In(t.Context())
	require.True(t, fresh)
	return r
}

func TestInFindsTheRecord(t *testing.T) {
	t.Parallel()
	type mark struct{}
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), mark{}, "x"))
	require.Nil(t, record.From(ctx))
	r, fresh := record.In(ctx)
	require.True(t, fresh)
	require.Same(t, r, record.From(r))
	require.Equal(t, "x", r.Value(mark{}))

	derived := context.WithValue(r, mark{}, "y")
	again, fresh := record.In(derived)
	require.False(t, fresh)
	require.Same(t, r, again)

	cancel()
	require.ErrorIs(t, r.Err(), context.Canceled)
	require.Same(t, r, record.From(context.WithoutCancel(derived)))
}

func TestARecordThatIsNone(t *testing.T) {
	t.Parallel()
	var r *record.Record
	require.False(t, r.Heeds())
	_, known := r.Decision()
	require.False(t, known)
}

func TestAFreshRecord(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	require.False(t, r.Heeds())
	_, known := r.Decision()
	require.False(t, known)
	_, priced := r.Price()
	require.False(t, priced)
	require.Equal(t, 200, r.Status())
	require.True(t, r.Own())
	require.False(t, r.Own())
	r.SetStatus(503)
	r.SetStatus(200)
	require.Equal(t, 503, r.Status())
	r.SetPrice(0)
	n, priced := r.Price()
	require.True(t, priced)
	require.Zero(t, n)
	r.Skip()
	require.True(t, r.Heeds())
}

func TestOnlyReachableLimitersHeed(t *testing.T) {
	t.Parallel()
	l := newLimiter(t)
	fixed := terms(l)
	fixed.Fixed = true
	r := newRecord(t)
	r.Meet(fixed, ana, 1, http.Header{})
	require.False(t, r.Heeds())
	r.Meet(terms(l), bea, 1, http.Header{})
	require.True(t, r.Heeds())
}

// Once settled, nothing is corrected any more, whatever comes late.
func TestNothingIsCorrectedAfterwards(t *testing.T) {
	t.Parallel()
	l := newLimiter(t)
	refunding := terms(l)
	calls := 0
	refunding.Refund = func(status int) bool { calls++; return status == 500 }
	r, h := newRecord(t), http.Header{}
	r.Meet(refunding, ana, 4, h)
	r.Meet(terms(l), bea, 4, h)
	r.Settle(7, true, 500)
	require.Equal(t, []int{10, 93}, []int{left(t, l, ana), left(t, l, bea)})
	l.Take(t.Context(), ana, 6)
	r.Settle(0, true, 500)
	require.Nil(t, r.Raise(9, h))
	require.Equal(t, []int{4, 93}, []int{left(t, l, ana), left(t, l, bea)})
	require.Equal(t, 1, calls)
	d, _ := r.Decision()
	require.Equal(t, "pro", d.Tier)
	require.Equal(t, 7, d.Cost)
}

// A bucket that was charged, refunded and is met again pays again.
func TestARefundedBucketIsNoFreePass(t *testing.T) {
	t.Parallel()
	l := newLimiter(t)
	r := newRecord(t)
	r.Meet(terms(l), ana, 1, http.Header{})
	r.Settle(0, true, 200)
	require.Equal(t, 10, left(t, l, ana))
	require.True(t, r.Meet(terms(l), ana, 1, http.Header{}).Allowed())
	require.Equal(t, 9, left(t, l, ana))
}

func TestARefusalEndsTheRequest(t *testing.T) {
	t.Parallel()
	l := newLimiter(t)
	r, h := newRecord(t), http.Header{}
	r.Meet(terms(l), bea, 3, h)
	require.Equal(t, "pro", h.Get("Tier"))
	d := r.Meet(terms(l), ana, 11, h)
	require.Equal(t, core.CostExceedsLimit, d.Outcome)
	require.Equal(t, "free", h.Get("Tier"))
	require.Equal(t, 100, left(t, l, bea))
	r.Settle(5, true, 200)
	require.Equal(t, []int{10, 100}, []int{left(t, l, ana), left(t, l, bea)})
	latest, _ := r.Decision()
	require.Equal(t, core.CostExceedsLimit, latest.Outcome)
}

func TestRaiseTellsWhoRefuses(t *testing.T) {
	t.Parallel()
	l := newLimiter(t)
	first, second := terms(l), terms(l)
	first.Options, second.Options = "first", "second"
	r, h := newRecord(t), http.Header{}
	r.Meet(first, bea, 1, h)
	r.Meet(second, ana, 1, h)
	require.Nil(t, r.Raise(1, h))
	require.Nil(t, r.Raise(6, h))
	require.Equal(t, "free", h.Get("Tier"))
	refusal := r.Raise(12, h)
	require.NotNil(t, refusal)
	require.Equal(t, "second", refusal.Options)
	require.Equal(t, []int{10, 100}, []int{left(t, l, ana), left(t, l, bea)})
	require.Nil(t, r.Raise(2, h), "refused already")
	n, _ := r.Price()
	require.Equal(t, 2, n)
}

func TestFailGivesBackAndWritesNothing(t *testing.T) {
	t.Parallel()
	l := newLimiter(t)
	r, h := newRecord(t), http.Header{}
	r.Meet(terms(l), ana, 4, h)
	d := r.Fail(terms(l), errors.New("away"), h)
	require.Equal(t, core.IdentifyFailed, d.Outcome)
	require.Equal(t, http.Header{"Tier": {""}}, h)
	require.Equal(t, 10, left(t, l, ana))
}

// What a refused Cost is answered with is read while a sub-request of the same
// batch may still be refused on its own: the race detector tells whose it is.
func TestARefusalIsNobodyElses(t *testing.T) {
	t.Parallel()
	l := newLimiter(t)
	r := newRecord(t)
	r.Meet(terms(l), ana, 1, http.Header{})
	refusal := r.Raise(11, http.Header{})
	require.NotNil(t, refusal)
	var wg sync.WaitGroup
	wg.Go(func() { r.Fail(terms(l), errors.New("away"), http.Header{}) })
	require.Equal(t, core.CostExceedsLimit, refusal.Decision.Outcome)
	wg.Wait()
}

func TestAPriceThatComesTooLateIsLogged(t *testing.T) {
	logged := logTo(t)
	l := newLimiter(t)
	r := newRecord(t)
	r.Meet(terms(l), ana, 1, http.Header{})
	r.SetPrice(2)
	r.Settle(2, true, 200)
	require.Empty(t, logged.String())
	r.SetPrice(2)
	require.Empty(t, logged.String(), "nothing new")
	r.SetPrice(3)
	require.Contains(t, logged.String(), "cost=3")
	require.Equal(t, 8, left(t, l, ana))
}

// The loser's headers go by the names that its function writes.
func TestHeadersOfTheLoserGo(t *testing.T) {
	t.Parallel()
	l := newLimiter(t)
	loser, winner := terms(l), terms(l)
	loser.Headers = func(h http.Header, d core.Decision) {
		h.Set("Loser-A", d.Tier)
		h["lower-case"] = []string{"x"}
	}
	r, h := newRecord(t), http.Header{"Other": {"stays"}}
	r.Meet(loser, bea, 1, h)
	require.Equal(t, http.Header{"Other": {"stays"}, "Loser-A": {"pro"}, "lower-case": {"x"}}, h)
	r.Meet(winner, ana, 1, h)
	require.Equal(t, http.Header{"Other": {"stays"}, "Tier": {"free"}}, h)
	h.Set("Loser-A", "a handler's own")
	r.Raise(5, h)
	require.Equal(t, http.Header{"Other": {"stays"}, "Tier": {"free"}, "Loser-A": {"a handler's own"}}, h)
}

// Whatever is read while limiters and prices work, and by their callbacks.
func TestARecordIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	l := newLimiter(t, core.WithObserver(func(ctx context.Context, _ core.Event) { record.From(ctx).Decision() }))
	for range 50 {
		r := newRecord(t)
		refunding := terms(l)
		refunding.Refund = func(int) bool { r.Decision(); r.Price(); return false }
		refunding.Headers = func(http.Header, core.Decision) { r.Decision(); r.SetPrice(2) }
		r.Meet(refunding, bea, 1, http.Header{})
		var wg sync.WaitGroup
		for _, f := range []func(){
			func() { r.Raise(3, http.Header{}) },
			func() { r.Settle(2, true, 200) },
			func() { r.Meet(terms(l), core.Identity{Key: "zoe", Tier: "pro"}, 1, http.Header{}) },
			func() { r.SetPrice(1); r.Price(); r.Heeds(); r.Skip(); r.Own() },
			func() { r.Decision(); r.SetStatus(200); r.Status() },
		} {
			wg.Go(f)
		}
		wg.Wait()
		spent := 100 - left(t, l, bea)
		require.Contains(t, []int{2, 3}, spent)
		require.NoError(t, l.Reset(t.Context(), bea))
		require.NoError(t, l.Reset(t.Context(), core.Identity{Key: "zoe", Tier: "pro"}))
	}
}

func TestPreflightAndNobody(t *testing.T) {
	t.Parallel()
	for _, step := range []struct {
		method, origin, asked string
		want                  bool
	}{
		{"OPTIONS", "https://a.example", "POST", true},
		{"OPTIONS", "null", "GET", true},
		{"OPTIONS", "", "POST", false},
		{"OPTIONS", "https://a.example", "", false},
		{"GET", "https://a.example", "POST", false},
		{"options", "https://a.example", "POST", false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.Method = step.method
		r.Header.Set("Origin", step.origin)
		r.Header.Set("Access-Control-Request-Method", step.asked)
		require.Equal(t, step.want, record.Preflight(r), "%+v", step)
	}
	for key, want := range map[string]bool{"": true, " ": true, "\t\r\n\u00a0": true, "a": false, " a ": false, "\x00": false} {
		require.Equal(t, want, record.Nobody(core.Identity{Key: key, Addr: "192.0.2.1", Tier: "pro"}), "%q", key)
	}
}

// logTo has all that is logged written into a buffer.
func logTo(t *testing.T) *bytes.Buffer {
	t.Helper()
	var buf bytes.Buffer
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	slog.SetDefault(slog.New(slog.NewTextHandler(&buf, nil)))
	return &buf
}

func TestReports(t *testing.T) {
	buf := logTo(t)
	record.ReportUnmet(t.Context(), "ginlimit", 5)
	record.ReportInvalid(t.Context(), "echolimit", "five")
	require.Contains(t, buf.String(), "level=ERROR")
	require.Contains(t, buf.String(), "ginlimit")
	require.Contains(t, buf.String(), "cost=5")
	require.Contains(t, buf.String(), "cost=five")
}

// An allowed request costs one allocation of this size: another 8 bytes would
// be another 64.
func TestARecordFitsItsSizeClass(t *testing.T) {
	t.Parallel()
	const class, allocators = 640, 8
	own := unsafe.Sizeof(record.Record{}) - unsafe.Sizeof(http.Request{})
	require.LessOrEqual(t, own, uintptr(class-allocators-304), "a request has 304 bytes on 64 bits")
}
