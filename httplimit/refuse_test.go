package httplimit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
)

// refuser is Refuse or Problem.
type refuser func(http.ResponseWriter, *http.Request, core.Decision)

func answer(f refuser, method string, d core.Decision) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	f(rec, httptest.NewRequest(method, "/data", nil), d)
	return rec
}

// requireBody asserts that w was answered with want, byte for byte.
func requireBody(t *testing.T, want string, w *httptest.ResponseRecorder) {
	t.Helper()
	require.Equal(t, want, w.Body.String())
}

func TestRefuseByOutcome(t *testing.T) {
	t.Parallel()
	bodies := map[core.Outcome]struct {
		status int
		body   string
	}{
		core.Missing:          {401, `{"error":"Unauthorized"}`},
		core.UnknownTier:      {402, `{"error":"Payment Required"}`},
		core.CostExceedsLimit: {403, `{"error":"request cost exceeds tier limit","tier":"free","cost":50,"limit":10}`},
		core.TierBlocked:      {403, `{"error":"Forbidden"}`},
		core.StorageFailed:    {503, `{"error":"service unavailable"}`},
		core.IdentifyFailed:   {503, `{"error":"service unavailable"}`},
		core.InvalidCost:      {500, `{"error":"Internal Server Error"}`},
		core.Canceled:         {499, ``},
	}
	for _, d := range everyOutcome(t) {
		if d.Allowed() {
			continue
		}
		want := bodies[d.Outcome]
		rec := answer(httplimit.Refuse, http.MethodGet, d)
		require.Equal(t, want.status, rec.Code, d.Outcome)
		require.Equal(t, want.body, rec.Body.String())
		require.Empty(t, rec.Header().Values("Retry-After"), d.Outcome)
		if d.Outcome == core.Canceled {
			require.Empty(t, rec.Header())
			continue
		}
		require.Equal(t, http.Header{"Content-Type": {"application/json"}}, rec.Header(), d.Outcome)
		require.True(t, json.Valid(rec.Body.Bytes()), d.Outcome)
	}
}

func TestRefuseOverQuota(t *testing.T) {
	t.Parallel()
	rec := answer(httplimit.Refuse, http.MethodGet, refused(t, core.PerMinute(10)))
	require.Equal(t, 429, rec.Code)
	requireBody(t, `{"error":"rate limit exceeded","tier":"free","retry_after":6}`, rec)
	require.Equal(t, http.Header{"Content-Type": {"application/json"}, "Retry-After": {"6"}}, rec.Header())

	rec = answer(httplimit.Refuse, http.MethodGet, core.Decision{})
	require.Equal(t, 429, rec.Code, "the zero Decision refuses")
	requireBody(t, `{"error":"rate limit exceeded","tier":"","retry_after":1}`, rec)
	require.Equal(t, "1", rec.Header().Get("Retry-After"))

	rec = answer(httplimit.Refuse, http.MethodGet, core.Decision{Outcome: 200})
	require.Equal(t, 503, rec.Code)
	requireBody(t, `{"error":"service unavailable"}`, rec)
}

func TestRefuseByPolicyStatus(t *testing.T) {
	t.Parallel()
	for status := 400; status <= 599; status++ {
		reason := http.StatusText(status)
		switch {
		case status == 503:
			reason = "service unavailable"
		case reason == "":
			reason = "request denied"
		}
		quoted, err := json.Marshal(reason)
		require.NoError(t, err)
		for _, d := range []core.Decision{
			newLimiter(t, core.PerMinute(10), core.OnMissing(core.Deny(status))).Take(t.Context(), core.Identity{}, 1),
			newLimiter(t, core.PerMinute(10), core.OnUnknownTier(core.Deny(status))).Take(t.Context(), core.Identity{Key: "key_eva", Tier: "gold"}, 1),
			newLimiterOver(t, downStore{}, "free", core.PerMinute(10), core.OnStorageError(core.Deny(status))).Take(t.Context(), ana, 1),
		} {
			rec := answer(httplimit.Refuse, http.MethodGet, d)
			require.Equal(t, status, rec.Code)
			require.Equal(t, `{"error":`+string(quoted)+`}`, rec.Body.String())
			require.Equal(t, http.Header{"Content-Type": {"application/json"}}, rec.Header(), status)
		}
	}
}

func TestStatusOfABodyThatCouldNotBePeeked(t *testing.T) {
	t.Parallel()
	l := newLimiter(t, core.PerMinute(10))
	for _, c := range []struct {
		err    error
		status int
		body   string
	}{
		{httplimit.ErrBodyTooLarge, 413, `{"error":"payload too large"}`},
		{httplimit.ErrBodyRead, 400, `{"error":"failed to read request body"}`},
		{fmt.Errorf("identify: %w", httplimit.ErrBodyTooLarge), 413, `{"error":"payload too large"}`},
		{fmt.Errorf("identify: %w: %w", httplimit.ErrBodyRead, io.ErrUnexpectedEOF), 400, `{"error":"failed to read request body"}`},
		{errors.New("other"), 503, `{"error":"service unavailable"}`},
	} {
		d := l.Fail(t.Context(), c.err)
		require.Equal(t, c.status, httplimit.Status(d))
		rec := answer(httplimit.Refuse, http.MethodPost, d)
		require.Equal(t, c.status, rec.Code)
		require.Equal(t, c.body, rec.Body.String())
	}

	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	require.Equal(t, 499, httplimit.Status(l.Fail(gone, httplimit.ErrBodyRead)), "who hung up sent no bad body")

	d := core.Decision{Outcome: core.StorageFailed, Err: httplimit.ErrBodyTooLarge}
	require.Equal(t, 503, httplimit.Status(d), "only identification reads bodies")
}

func TestStatusIsTheDecisionsOwn(t *testing.T) {
	t.Parallel()
	for _, d := range append(everyOutcome(t), core.Decision{}, allowed(t, core.PerMinute(10))) {
		require.Equal(t, d.Status(), httplimit.Status(d), d.Outcome)
	}
}

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

// oddNames are tier names that a careless encoder gets wrong. Plans refuse the
// last few, which a decision made by hand may still hold.
var oddNames = []string{
	"free", "", `say "pro"`, `back\slash`, "</script>", "<!--", "größe", "プロ", "😀", "a/b", "line\nbreak", "tab\tcr\r", "\x00\x1f",
	"del\x7f", "c1\u0080\u009f", "sep\u2028\u2029", "bad\xffutf8", "cut\xe3\x83", "\xed\xa0\x80", "\ufffd",
}

func TestOddTierNamesAreValidJSON(t *testing.T) {
	t.Parallel()
	over, dear := refused(t, core.PerMinute(10)), newLimiter(t, core.PerMinute(10)).Take(t.Context(), ana, 50)
	for _, name := range oddNames {
		want := strings.ToValidUTF8(name, "\ufffd")
		if name == "cut\xe3\x83" || name == "\xed\xa0\x80" {
			want = string([]rune(name)) // so many replacements as encoding/json makes
		}
		over.Tier, dear.Tier = name, name
		for _, d := range []core.Decision{over, dear} {
			var got struct {
				Tier string `json:"tier"`
			}
			rec := answer(httplimit.Refuse, http.MethodGet, d)
			require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &got), "%q", name)
			require.Equal(t, want, got.Tier)
		}
	}
	over.Tier = `"<pro>", größe` + "\n\u0085"
	requireBody(t, `{"error":"rate limit exceeded","tier":"\"<pro>\", größe\u000a\u0085","retry_after":6}`,
		answer(httplimit.Refuse, http.MethodGet, over))
}

func TestHEADIsRefusedWithoutABody(t *testing.T) {
	t.Parallel()
	for _, d := range append(everyOutcome(t), refused(t, core.PerMinute(10))) {
		if d.Allowed() {
			continue
		}
		for _, f := range []refuser{httplimit.Refuse, httplimit.Problem} {
			head, get := answer(f, http.MethodHead, d), answer(f, http.MethodGet, d)
			require.Empty(t, head.Body.String(), d.Outcome)
			require.Equal(t, get.Code, head.Code)
			require.Equal(t, get.Header(), head.Header())
		}
	}
}

func TestRefusalThroughARealServer(t *testing.T) {
	t.Parallel()
	limited := httplimit.New(newLimiter(t, core.PerMinute(10)), func(*http.Request) (core.Identity, error) { return ana, nil })
	server := httptest.NewServer(limited(http.NotFoundHandler()))
	t.Cleanup(server.Close)
	for range 10 {
		res, err := http.Get(server.URL)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 404, res.StatusCode)
	}
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodHead} {
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL, nil)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 429, res.StatusCode)
		require.Equal(t, "application/json", res.Header.Get("Content-Type"))
		require.Equal(t, "6", res.Header.Get("Retry-After"))
		require.Equal(t, "10", res.Header.Get("X-RateLimit-Limit"))
		require.Equal(t, "0", res.Header.Get("X-RateLimit-Remaining"))
		if method == http.MethodHead {
			require.Empty(t, body)
			continue
		}
		require.EqualValues(t, 61, res.ContentLength)
		require.Len(t, body, 61)
	}
}

func TestRefusalsNeverNameTheCallerOrTheCause(t *testing.T) {
	t.Parallel()
	for _, d := range append(everyOutcome(t), refused(t, core.PerMinute(10))) {
		for _, f := range []refuser{httplimit.Refuse, httplimit.Problem} {
			rec := answer(f, http.MethodGet, d)
			text := fmt.Sprint(rec.Header(), rec.Body)
			for _, secret := range []string{"key_ana", "key_eva", "10.1.2.3", "user table", "gold"} {
				require.NotContains(t, text, secret, d.Outcome)
			}
		}
	}
}
