package httplimit_test

import (
	"math"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/httplimit"
	"github.com/tierlimit/tierlimit/memstore"
)

// written is what f writes about d.
func written(f httplimit.HeaderFunc, d core.Decision) map[string]string {
	h := http.Header{}
	f(h, d)
	m := map[string]string{}
	for name, values := range h {
		m[name] = values[0]
	}
	return m
}

func three(limit, remaining, reset string) map[string]string {
	return map[string]string{"X-Ratelimit-Limit": limit, "X-Ratelimit-Remaining": remaining, "X-Ratelimit-Reset": reset}
}

func TestXRateLimitOfAnAllowedAndARefusedRequest(t *testing.T) {
	t.Parallel()
	unix := strconv.FormatInt(start.Unix()+6, 10)
	full := strconv.FormatInt(start.Unix()+60, 10)
	for _, c := range []struct {
		name      string
		decision  core.Decision
		at, delta map[string]string
	}{
		{"allowed", allowed(t, core.PerMinute(10)), three("10", "9", unix), three("10", "9", "6")},
		{"refused", refused(t, core.PerMinute(10)), three("10", "0", full), three("10", "0", "60")},
		{"burst", allowed(t, core.PerSecond(20).WithBurst(40)), three("40", "39", strconv.FormatInt(start.Unix()+1, 10)), three("40", "39", "1")},
	} {
		require.Equal(t, c.at, written(httplimit.XRateLimit, c.decision), c.name)
		require.Equal(t, c.delta, written(httplimit.XRateLimitDelta, c.decision), c.name)
	}
}

func TestXRateLimitShowsTheWindowThatBinds(t *testing.T) {
	t.Parallel()
	q := core.PerMinute(2).And(core.PerDay(100).Using(core.FixedWindow))
	require.Equal(t, three("2", "1", "30"), written(httplimit.XRateLimitDelta, allowed(t, q)))

	midnight := strconv.Itoa(24*3600 - (13*3600 + 18*60 + 14))
	q = core.PerMinute(100).And(core.PerDay(2).Using(core.FixedWindow))
	require.Equal(t, three("2", "1", midnight), written(httplimit.XRateLimitDelta, allowed(t, q)))
	require.Equal(t, three("2", "0", midnight), written(httplimit.XRateLimitDelta, refused(t, q)))

	q = core.PerMinute(3).Using(core.SlidingLog)
	require.Equal(t, three("3", "2", "60"), written(httplimit.XRateLimitDelta, allowed(t, q)))
}

func TestHeadersAreWrittenOnlyWhereAWindowWasJudged(t *testing.T) {
	t.Parallel()
	decisions := append(everyOutcome(t), core.Decision{})
	for _, f := range everyHeaderFunc() {
		for _, d := range decisions {
			require.Empty(t, written(f, d), d.Outcome)
		}
	}
}

func TestShadowTierHasNoHeaders(t *testing.T) {
	t.Parallel()
	l := newLimiter(t, core.PerMinute(1).Shadow())
	for _, outcome := range []core.Outcome{core.Allowed, core.OverQuota} {
		d := l.Take(t.Context(), ana, 1)
		require.Equal(t, outcome, d.Outcome)
		require.True(t, d.Allowed())
		for _, f := range everyHeaderFunc() {
			require.Empty(t, written(f, d), outcome)
		}
	}
}

func TestDegradedDecisionHasHeaders(t *testing.T) {
	t.Parallel()
	store := degradedStore{memstore.New(memstore.WithClock(fakeclock.New(start)))}
	d := newLimiterOver(t, store, "free", core.PerMinute(10)).Take(t.Context(), ana, 1)
	require.True(t, d.Degraded)
	require.Equal(t, three("10", "9", "6"), written(httplimit.XRateLimitDelta, d))
	require.Equal(t, map[string]string{
		"Ratelimit":        `"free";r=9;t=6`,
		"Ratelimit-Policy": `"free";q=10;w=60`,
	}, written(httplimit.Draft, d))
}

func everyHeaderFunc() []httplimit.HeaderFunc {
	return []httplimit.HeaderFunc{
		httplimit.XRateLimit,
		httplimit.XRateLimitDelta,
		httplimit.Draft,
		httplimit.None,
		httplimit.Both(httplimit.XRateLimit, httplimit.Draft),
	}
}

func TestNoneWritesNothing(t *testing.T) {
	t.Parallel()
	require.Empty(t, written(httplimit.None, allowed(t, core.PerMinute(10))))
	require.Empty(t, written(httplimit.None, refused(t, core.PerMinute(10))))
}

func TestBothWritesTheSecondLast(t *testing.T) {
	t.Parallel()
	d := allowed(t, core.PerMinute(10))
	both := written(httplimit.Both(httplimit.XRateLimit, httplimit.Draft), d)
	require.Len(t, both, 5)
	require.Equal(t, "10", both["X-Ratelimit-Limit"])
	require.Equal(t, `"free";r=9;t=6`, both["Ratelimit"])
	require.Equal(t, three("10", "9", "6"), written(httplimit.Both(httplimit.XRateLimit, httplimit.XRateLimitDelta), d))
}

func TestHeadersReplaceWhatStands(t *testing.T) {
	t.Parallel()
	h := http.Header{}
	h.Add("X-RateLimit-Limit", "1")
	h.Add("X-RateLimit-Limit", "2")
	h.Add("X-RateLimit-Remaining", "3")
	h.Add("X-RateLimit-Reset", "4")
	httplimit.XRateLimitDelta(h, allowed(t, core.PerMinute(10)))
	require.Equal(t, []string{"10"}, h.Values("X-RateLimit-Limit"))
	require.Equal(t, []string{"9"}, h.Values("X-RateLimit-Remaining"))
	require.Equal(t, []string{"6"}, h.Values("X-RateLimit-Reset"))
}

func TestAddingToOneHeaderLeavesTheOthers(t *testing.T) {
	t.Parallel()
	for _, f := range []httplimit.HeaderFunc{httplimit.XRateLimitDelta, httplimit.Draft} {
		h := http.Header{}
		f(h, allowed(t, core.PerMinute(10)))
		before := h.Clone()
		for name := range before {
			h.Add(name, "added")
		}
		for name, values := range before {
			require.Equal(t, []string{values[0], "added"}, h.Values(name))
		}
	}
}

func TestResetIsRoundedUpAndNeverWraps(t *testing.T) {
	t.Parallel()
	second := time.Unix(1000, 0)
	for _, c := range []struct {
		name  string
		at    time.Time
		after time.Duration
		unix  string
		delta string
	}{
		{"full", second, 0, "1000", "0"},
		{"a nanosecond", second, 1, "1001", "1"},
		{"less than a second", second, 999 * time.Millisecond, "1001", "1"},
		{"a second", second, time.Second, "1001", "1"},
		{"a nanosecond more", second, time.Second + 1, "1002", "2"},
		{"two halves", second.Add(500 * time.Millisecond), 500 * time.Millisecond, "1001", "1"},
		{"more than two halves", second.Add(500 * time.Millisecond), 500*time.Millisecond + 1, "1002", "1"},
		{"full within a second", second.Add(1), 0, "1001", "0"},
		{"before 1970", time.Unix(-1000, 0), time.Minute, "0", "60"},
		{"just before 1970", time.Unix(-1, 1), 0, "0", "0"},
		{"across 1970", time.Unix(-10, 0), time.Minute, "50", "60"},
		{"the zero time", time.Time{}, time.Minute, "0", "60"},
		{"292 years", second, math.MaxInt64, "9223373037", "9223372037"},
		{"the year 36812", time.Unix(1<<40, 0), math.MaxInt64, strconv.FormatInt(1<<40+9223372037, 10), "9223372037"},
	} {
		d := allowed(t, core.PerMinute(10))
		d.At, d.Level.ResetAfter = c.at, c.after
		require.Equal(t, three("10", "9", c.unix), written(httplimit.XRateLimit, d), c.name)
		require.Equal(t, three("10", "9", c.delta), written(httplimit.XRateLimitDelta, d), c.name)
	}
}

// A header that a handler adds to must not write into its neighbour.
func TestEachHeaderHasItsValueAlone(t *testing.T) {
	t.Parallel()
	h := http.Header{}
	httplimit.XRateLimit(h, allowed(t, core.PerMinute(10)))
	for name, values := range h {
		require.Len(t, values, cap(values), name)
	}
	h.Add("X-RateLimit-Limit", "more")
	require.Equal(t, []string{"9"}, h["X-Ratelimit-Remaining"])
}

func TestLargestNumbersFit(t *testing.T) {
	t.Parallel()
	d := allowed(t, core.PerMinute(10))
	d.Limit.Burst, d.Level.Remaining, d.Level.ResetAfter = math.MaxInt, math.MaxInt-1, math.MaxInt64
	require.Equal(t, three(strconv.Itoa(math.MaxInt), strconv.Itoa(math.MaxInt-1), "9223372037"), written(httplimit.XRateLimitDelta, d))
}
