package httplimit_test

import (
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
)

func TestRetryAfterIsRoundedUpToWholeSeconds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		wait    time.Duration
		seconds string
	}{
		{0, "1"},
		{1, "1"},
		{time.Microsecond, "1"},
		{999 * time.Millisecond, "1"},
		{time.Second, "1"},
		{1_000_000_001, "2"},
		{1900 * time.Millisecond, "2"},
		{6 * time.Second, "6"},
		{100 * time.Second, "100"},
		{30 * 24 * time.Hour, "2592000"},
		{math.MaxInt64, "9223372037"},
		{-time.Second, "1"},
	} {
		d := refused(t, core.PerMinute(10))
		d.Level.RetryAfter = c.wait
		for _, f := range []refuser{httplimit.Refuse, httplimit.Problem} {
			rec := answer(f, http.MethodGet, d)
			require.Equal(t, []string{c.seconds}, rec.Header().Values("Retry-After"), c.wait)
			require.True(t, strings.HasSuffix(rec.Body.String(), `"retry_after":`+c.seconds+`}`), rec.Body)
		}
	}
}

// A fallback that holds less than the plan may never have room for a cost.
func TestNoWaitIsToldWhereAFallbackKnowsNone(t *testing.T) {
	t.Parallel()
	d := refused(t, core.PerMinute(10))
	d.Degraded, d.Level.RetryAfter = true, 0
	rec := answer(httplimit.Refuse, http.MethodGet, d)
	require.Equal(t, http.StatusTooManyRequests, rec.Code)
	require.Empty(t, rec.Header().Values("Retry-After"))
	requireBody(t, `{"error":"rate limit exceeded","tier":"free"}`, rec)

	rec = answer(httplimit.Problem, http.MethodGet, d)
	require.Equal(t, http.StatusTooManyRequests, rec.Code)
	require.Empty(t, rec.Header().Values("Retry-After"))
	requireBody(t, `{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota exceeded","status":429,`+
		`"detail":"The rate limit of tier \"free\" is exceeded.","violated-policies":["free"]}`, rec)

	d.Level.RetryAfter = 12 * time.Second
	require.Equal(t, "12", answer(httplimit.Refuse, http.MethodGet, d).Header().Get("Retry-After"))
}

func TestRetryAfterIsOnlyForWhatWaitingHelps(t *testing.T) {
	t.Parallel()
	for _, d := range append(everyOutcome(t), allowed(t, core.PerMinute(10))) {
		h := http.Header{}
		httplimit.RetryAfter(h, d)
		require.Empty(t, h, d.Outcome)
	}
	shadow := newLimiter(t, core.PerMinute(1).Shadow())
	shadow.Take(t.Context(), ana, 1)
	h := http.Header{}
	httplimit.RetryAfter(h, shadow.Take(t.Context(), ana, 1))
	require.Empty(t, h)
}
