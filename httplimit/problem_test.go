package httplimit_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
)

func TestProblemByOutcome(t *testing.T) {
	t.Parallel()
	l := newLimiter(t, core.PerMinute(10))
	bodies := map[core.Outcome]string{
		core.Missing:     `{"type":"about:blank","title":"Unauthorized","status":401}`,
		core.UnknownTier: `{"type":"about:blank","title":"Payment Required","status":402}`,
		core.CostExceedsLimit: `{"type":"about:blank","title":"Forbidden","status":403,` +
			`"detail":"The request costs 50, more than tier \"free\" can ever hold.","cost":50,"limit":10}`,
		core.TierBlocked:    `{"type":"about:blank","title":"Forbidden","status":403}`,
		core.StorageFailed:  `{"type":"about:blank","title":"Service Unavailable","status":503}`,
		core.IdentifyFailed: `{"type":"about:blank","title":"Service Unavailable","status":503}`,
		core.InvalidCost:    `{"type":"about:blank","title":"Internal Server Error","status":500}`,
		core.Canceled:       ``,
	}
	for _, d := range everyOutcome(t) {
		if d.Allowed() {
			continue
		}
		rec := answer(httplimit.Problem, http.MethodGet, d)
		require.Equal(t, d.Status(), rec.Code)
		require.Equal(t, bodies[d.Outcome], rec.Body.String(), d.Outcome)
		if d.Outcome == core.Canceled {
			require.Empty(t, rec.Header())
			continue
		}
		require.Equal(t, http.Header{"Content-Type": {"application/problem+json"}}, rec.Header(), d.Outcome)
	}
	for err, body := range map[error]string{
		httplimit.ErrBodyTooLarge: `{"type":"about:blank","title":"Request Entity Too Large","status":413}`,
		httplimit.ErrBodyRead:     `{"type":"about:blank","title":"Bad Request","status":400}`,
	} {
		require.Equal(t, body, answer(httplimit.Problem, http.MethodGet, l.Fail(t.Context(), err)).Body.String())
	}
}

func TestProblemOverQuota(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		q    core.Quota
		body string
	}{
		{
			"one window", core.PerMinute(10),
			`{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota exceeded","status":429,` +
				`"detail":"The rate limit of tier \"free\" is exceeded; retry in 6 s.","violated-policies":["free"],"retry_after":6}`,
		},
		{
			"the window that has room is not named", core.PerMinute(2).And(core.PerDay(100)),
			`{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota exceeded","status":429,` +
				`"detail":"The rate limit of tier \"free\" is exceeded; retry in 30 s.","violated-policies":["free-1m"],"retry_after":30}`,
		},
		{
			"two windows", core.PerMinute(2).And(core.PerHour(2)),
			`{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota exceeded","status":429,` +
				`"detail":"The rate limit of tier \"free\" is exceeded; retry in 1800 s.","violated-policies":["free-1m","free-1h"],"retry_after":1800}`,
		},
	} {
		rec := answer(httplimit.Problem, http.MethodGet, refused(t, c.q))
		require.Equal(t, 429, rec.Code)
		require.Equal(t, c.body, rec.Body.String(), c.name)
		require.Equal(t, "application/problem+json", rec.Header().Get("Content-Type"))
		require.NotEmpty(t, rec.Header().Get("Retry-After"))
	}

	rec := answer(httplimit.Problem, http.MethodGet, core.Decision{})
	require.Equal(t, 429, rec.Code)
	requireBody(t, `{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota exceeded","status":429,`+
		`"detail":"The rate limit of tier \"\" is exceeded; retry in 1 s.","violated-policies":[],"retry_after":1}`, rec)
}

func TestProblemByPolicyStatus(t *testing.T) {
	t.Parallel()
	for status := 400; status <= 599; status++ {
		title := http.StatusText(status)
		if title == "" {
			title = "Request denied"
		}
		d := newLimiter(t, core.PerMinute(10), core.OnMissing(core.Deny(status))).Take(t.Context(), core.Identity{}, 1)
		rec := answer(httplimit.Problem, http.MethodGet, d)
		require.Equal(t, status, rec.Code)
		want, err := json.Marshal(map[string]any{"type": "about:blank", "title": title, "status": status})
		require.NoError(t, err)
		require.JSONEq(t, string(want), rec.Body.String())
	}
}

func TestProblemOfOddTierNamesIsValidJSON(t *testing.T) {
	t.Parallel()
	over, dear := refused(t, core.PerMinute(10)), newLimiter(t, core.PerMinute(10)).Take(t.Context(), ana, 50)
	two := refused(t, core.PerMinute(2).And(core.PerHour(2)))
	for _, name := range oddNames {
		over.Tier, dear.Tier, two.Tier = name, name, name
		for _, d := range []core.Decision{over, dear, two} {
			var got struct {
				Status int    `json:"status"`
				Detail string `json:"detail"`
			}
			require.NoError(t, json.Unmarshal(answer(httplimit.Problem, http.MethodGet, d).Body.Bytes(), &got), "%q", name)
			require.Equal(t, d.Status(), got.Status)
			require.NotEmpty(t, got.Detail)
		}
	}
}
