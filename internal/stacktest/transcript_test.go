package stacktest_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/stacktest"
)

// prices of the transcript's routes.
var prices = map[string]int{"/report": 5, "/backup": 50}

func priceOf(r *http.Request) int {
	if n, priced := prices[r.URL.Path]; priced {
		return n
	}
	return 1
}

// transcriptService is the one in the README.
func transcriptService(l *core.Limiter) stacktest.Service {
	priced := limit(l)
	priced.Cost = priceOf
	return stacktest.Service{
		Use:    layers(priced),
		Routes: routes(route("/data", ok), route("/report", ok), route("/backup", ok)),
	}
}

type transcriptStep struct {
	advance time.Duration
	key     string
	path    string
	status  int
	body    string
	rate    []string
}

func rate(limit, remaining, reset string) []string {
	return []string{"X-Ratelimit-Limit: " + limit, "X-Ratelimit-Remaining: " + remaining, "X-Ratelimit-Reset: " + reset}
}

var transcript = []transcriptStep{
	{0, "key_ana", "/data", 200, "served", rate("10", "9", "1790000006")},
	{0, "key_ana", "/report", 200, "served", rate("10", "4", "1790000036")},
	{0, "key_ana", "/report", 429, body429("free", 6), append([]string{"Retry-After: 6"}, rate("10", "4", "1790000036")...)},
	{0, "key_ana", "/data", 200, "served", rate("10", "3", "1790000042")},
	{0, "key_ana", "/data", 200, "served", rate("10", "2", "1790000048")},
	{0, "key_ana", "/data", 200, "served", rate("10", "1", "1790000054")},
	{0, "key_ana", "/data", 200, "served", rate("10", "0", "1790000060")},
	{0, "key_ana", "/data", 429, body429("free", 6), append([]string{"Retry-After: 6"}, rate("10", "0", "1790000060")...)},
	{0, "key_ana", "/backup", 403, `{"error":"request cost exceeds tier limit","tier":"free","cost":50,"limit":10}`, nil},
	{0, "key_bea", "/data", 200, "served", rate("100", "99", "1790000001")},
	{0, "key_bea", "/report", 200, "served", rate("100", "94", "1790000004")},
	{0, "key_bea", "/backup", 200, "served", rate("100", "44", "1790000034")},
	{0, "key_eva", "/data", 200, "served", rate("10", "9", "1790000006")},
	{0, "", "/data", 401, `{"error":"Unauthorized"}`, nil},
	{0, "key_none", "/data", 401, `{"error":"Unauthorized"}`, nil},
	{5999 * time.Millisecond, "key_ana", "/data", 429, body429("free", 1), append([]string{"Retry-After: 1"}, rate("10", "0", "1790000060")...)},
	{time.Millisecond, "key_ana", "/data", 200, "served", rate("10", "0", "1790000066")},
}

func TestTranscript(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t, core.OnMissing(core.Deny(http.StatusUnauthorized)))
		h := s.Build(transcriptService(w.limiter))
		for i, step := range transcript {
			w.clock.Advance(step.advance)
			a := get(h, step.path, key(step.key))
			require.Equal(t, step.status, a.Status, "step %d", i)
			require.Equal(t, step.body, a.Body, "step %d", i)
			require.Equal(t, step.rate, a.rate(), "step %d", i)
			if step.status != http.StatusOK {
				require.Equal(t, []string{"application/json"}, a.Header["Content-Type"], "step %d", i)
			}
			require.NotContains(t, a.Body, "key_", "step %d", i)
		}
	})
}

// Whole answers, header by header, are the same in all stacks.
func TestTranscriptIsTheSameInAllStacks(t *testing.T) {
	t.Parallel()
	var first []answer
	for _, s := range stacktest.Stacks() {
		w := newWorld(t, core.OnMissing(core.Deny(http.StatusUnauthorized)))
		h := s.Build(transcriptService(w.limiter))
		var answers []answer
		for _, step := range transcript {
			w.clock.Advance(step.advance)
			answers = append(answers, get(h, step.path, key(step.key)))
		}
		if first == nil {
			first = answers
		}
		require.Equal(t, first, answers, s.Name)
	}
}

// An unknown tier is told on every request, whatever the policy.
func TestUnknownTierIsToldEveryTime(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		for _, policy := range []core.Policy{core.UseDefault, core.UseTier("pro"), core.Allow, core.Deny(402)} {
			var mu sync.Mutex
			var told []string
			w := newWorld(t, core.OnUnknownTier(policy), core.WithObserver(func(_ context.Context, e core.Event) {
				mu.Lock()
				defer mu.Unlock()
				if e.UnknownTier && !e.Late {
					told = append(told, e.Identity.Tier+" "+e.Identity.Key)
				}
			}))
			h := s.Build(stacktest.Service{Use: layers(limit(w.limiter)), Routes: routes(route("/data", ok))})
			a, b := get(h, "/data", key("key_eva")), get(h, "/data", key("key_eva"))
			require.Equal(t, []string{"gold key_eva", "gold key_eva"}, told)
			switch policy {
			case core.UseDefault:
				require.Equal(t, []int{9, 8}, []int{a.remaining(), b.remaining()})
			case core.UseTier("pro"):
				require.Equal(t, []int{99, 98}, []int{a.remaining(), b.remaining()})
			case core.Allow:
				require.Equal(t, 200, a.Status)
				require.Empty(t, a.rate())
			default:
				require.Equal(t, 402, a.Status)
				require.JSONEq(t, `{"error":"Payment Required"}`, a.Body)
				require.Empty(t, a.rate())
			}
		}
	})
}
