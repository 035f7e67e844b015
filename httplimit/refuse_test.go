package httplimit_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
