package stacktest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
	"github.com/tierlimit/tierlimit/internal/stacktest"
)

func TestSkippedRequestsAreFree(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		l := limit(w.limiter)
		l.Skip = func(r *http.Request) bool { return r.URL.Path == "/healthz" || r.Method == http.MethodHead }
		l.Refused = func(c *stacktest.Call, _ core.Decision) error { return c.Text(429, "no") }
		h := s.Build(stacktest.Service{Use: layers(l), Routes: routes(route("/x", ok), route("/healthz", ok))})
		w.limiter.Take(t.Context(), ana, 10)
		require.Equal(t, 429, get(h, "/x", key("key_ana")).Status)
		for _, a := range []answer{
			get(h, "/healthz", key("key_ana")), get(h, "/healthz", from("")), get(h, "/healthz", from("@")),
			call(h, http.MethodHead, "/x", key("key_ana")),
		} {
			require.Equal(t, 200, a.Status)
			require.Empty(t, a.rate())
		}
	})
}

func TestPreflightIsFree(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		cors := before(func(c *stacktest.Call) { c.Writer.Header().Set("Access-Control-Allow-Origin", "*") })
		h := s.Build(stacktest.Service{Use: layers(cors, limit(w.limiter)), Routes: routes(route("/x", ok))})
		asks := []change{key("key_ana"), header("Origin", "https://a.example"), header("Access-Control-Request-Method", "POST")}
		for range 12 {
			a := call(h, http.MethodOptions, "/x", asks...)
			require.Equal(t, 200, a.Status)
			require.Empty(t, a.rate())
		}
		require.Equal(t, 9, call(h, http.MethodOptions, "/x", asks[:2]...).remaining(), "no preflight without the method asked for")
		require.Equal(t, 8, call(h, http.MethodOptions, "/x", asks[0], asks[2]).remaining(), "no preflight without an origin")
		require.Equal(t, 7, get(h, "/x", asks...).remaining(), "no preflight but OPTIONS")
		for range 7 {
			get(h, "/x", asks...)
		}
		require.Equal(t, 200, call(h, http.MethodOptions, "/x", asks...).Status)
		a := get(h, "/x", asks...)
		require.Equal(t, 429, a.Status)
		require.Equal(t, []string{"*"}, a.Header["Access-Control-Allow-Origin"], "the refusal keeps what CORS has set")
	})
}

// Requests a minute beside tokens an hour.
func TestFixedCostBesideTokens(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		tokens := core.Identity{Key: "key_ana", Tier: "tokens"}
		requests := limitAs(w.limiter, ana)
		requests.Fixed = new(1)
		requests.Cost = func(*http.Request) int { return 9 }
		reserve := limitAs(w.limiter, tokens)
		reserve.Cost = func(*http.Request) int { return 100 }
		h := s.Build(stacktest.Service{Use: layers(requests, reserve), Routes: routes(
			route("/chat", func(c *stacktest.Call) error { c.SetCost(340); return ok(c) }),
			route("/priced", ok, stacktest.Cost(50)),
		)})
		require.Equal(t, 200, get(h, "/chat").Status)
		require.Equal(t, []int{9, 660}, []int{w.left(ana), w.left(tokens)})
		require.Equal(t, 200, get(h, "/priced").Status)
		require.Equal(t, []int{8, 610}, []int{w.left(ana), w.left(tokens)})
		require.Equal(t, 200, get(h, "/chat").Status)
		require.Equal(t, 200, get(h, "/chat").Status)
		require.Equal(t, []int{6, 0}, []int{w.left(ana), w.left(tokens)})
		a := get(h, "/chat")
		require.Equal(t, 429, a.Status)
		require.Contains(t, a.Body, `"tier":"tokens"`)
		require.Equal(t, []int{6, 0}, []int{w.left(ana), w.left(tokens)})

		free := limitAs(w.limiter, bea)
		free.Fixed = new(0)
		require.Equal(t, 100, get(one(s, free), "/x").remaining())
	})
}

func TestCustomRefusal(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorldWith(t, core.Plans{Tiers: map[string]core.Quota{"free": core.PerMinute(10).And(core.PerHour(12))}, Default: "free"})
		l := limit(w.limiter)
		var seen core.Decision
		l.Refused = func(c *stacktest.Call, d core.Decision) error {
			seen = d
			latest, known := c.Decision()
			require.True(t, known)
			require.Equal(t, d, latest)
			h := c.Writer.Header()
			return c.Text(d.Status(), fmt.Sprint(d.Tier, " ", h.Get("Retry-After"), " ", h.Get("X-Ratelimit-Remaining")))
		}
		h := s.Build(stacktest.Service{Use: layers(l), Routes: routes(route("/x", ok), route("/dear", ok, stacktest.Cost(11)))})
		for range 10 {
			require.Equal(t, 200, get(h, "/x", key("key_ana")).Status)
		}
		a := get(h, "/x", key("key_ana"))
		require.Equal(t, 429, a.Status)
		require.Equal(t, "free 6 0", a.Body)
		require.Equal(t, append([]string{"Retry-After: 6"}, rate("10", "0", "1790000060")...), a.rate())
		require.Equal(t, core.OverQuota, seen.Outcome)
		require.Equal(t, core.Limit{Count: 10, Window: time.Minute, Burst: 10}, seen.Limit)
		require.Equal(t, 6*time.Second, seen.Level.RetryAfter)
		windows := 0
		for range seen.All() {
			windows++
		}
		require.Equal(t, 2, windows)

		a = get(h, "/dear", key("key_bea"))
		require.Equal(t, 403, a.Status)
		require.Equal(t, "free  ", a.Body)
		require.Equal(t, []int{11, 0}, []int{seen.Asked, seen.Cost})

		l.Refused = func(c *stacktest.Call, d core.Decision) error {
			httplimit.Problem(c.Writer, c.Request, d)
			return nil
		}
		a = get(one(s, l), "/x", key("key_ana"))
		require.Equal(t, []string{"application/problem+json"}, a.Header["Content-Type"])
		require.Contains(t, a.Body, `"violated-policies":["free-1m"]`)
	})
}

func TestHeadGetsNoBody(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t, core.OnMissing(core.Deny(401)))
		h := one(s, limit(w.limiter))
		w.limiter.Take(t.Context(), ana, 10)
		for _, path := range []string{"/x", "/nowhere"} {
			a := call(h, http.MethodHead, path, key("key_ana"))
			require.Equal(t, 429, a.Status)
			require.Empty(t, a.Body)
			require.Equal(t, append([]string{"Retry-After: 6"}, rate("10", "0", "1790000060")...), a.rate())
			a = call(h, http.MethodHead, path)
			require.Equal(t, 401, a.Status)
			require.Empty(t, a.Body)
		}
	})
}

// Escaped where it has to be, raw where it may.
func TestTierNamesInBodies(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		name := `"ü</script>\`
		w := newWorldWith(t, core.Plans{Tiers: map[string]core.Quota{name: core.PerMinute(1)}, Default: name})
		l := limit(w.limiter)
		l.Headers = httplimit.Both(httplimit.XRateLimitDelta, httplimit.Draft)
		h := one(s, l)
		get(h, "/x", key("key_ana"))
		a := get(h, "/x", key("key_ana"))
		a.says(t, `{"error":"rate limit exceeded","tier":"\"ü</script>\\","retry_after":60}`)
		require.Equal(t, []string{
			`Ratelimit: "\"%c3%bc</script>\\";r=0;t=60`, `Ratelimit-Policy: "\"%c3%bc</script>\\";q=1;w=60`,
			"Retry-After: 60", "X-Ratelimit-Limit: 1", "X-Ratelimit-Remaining: 0", "X-Ratelimit-Reset: 60",
		}, a.rate())
	})
}

// Through a real server as well.
func TestOverTheNetwork(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		srv := httptest.NewServer(one(s, limit(w.limiter)))
		defer srv.Close()
		for i := range 11 {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/x", http.NoBody)
			require.NoError(t, err)
			r.Header.Set("X-Forwarded-For", "6.6.6."+itoa(i))
			res, err := srv.Client().Do(r)
			require.NoError(t, err)
			body, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			if i < 10 {
				require.Equal(t, itoa(9-i), res.Header.Get("X-RateLimit-Remaining"))
				continue
			}
			require.Equal(t, 429, res.StatusCode)
			require.Equal(t, body429("free", 6), string(body))
		}
	})
}
