package stacktest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
	"github.com/tierlimit/tierlimit/internal/stacktest"
)

// An address limiter before the login, a plan after it.
func TestGuessingKeysIsLimitedByAddress(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		p := core.Plans{Tiers: map[string]core.Quota{"address": core.PerMinute(20), "free": core.PerMinute(10), "pro": core.PerMinute(100)}, Default: "free"}
		w := newWorldWith(t, p)
		login := stacktest.Around(func(c *stacktest.Call, next func() error) error {
			if _, known := accounts[c.Request.Header.Get("X-Api-Key")]; !known {
				return c.Text(401, "who?")
			}
			return next()
		})
		h := s.Build(stacktest.Service{
			Use:    layers(stacktest.Limit{Limiter: w.limiter, Identify: httplimit.ByClientIP("address")}),
			Groups: []stacktest.Group{{Prefix: "/v1", Use: layers(login, limit(w.limiter)), Routes: routes(route("/x", ok))}},
		})
		guesser := from("203.0.113.66:4")
		for i := range 50 {
			a := get(h, "/v1/x", guesser, key("guess"+itoa(i)))
			if i < 20 {
				require.Equal(t, 401, a.Status, i)
				continue
			}
			require.Equal(t, 429, a.Status, i)
			require.Contains(t, a.Body, `"tier":"address"`)
		}
		user := from("198.51.100.7:9")
		for i := range 10 {
			a := get(h, "/v1/x", user, key("key_ana"))
			require.Equal(t, 200, a.Status)
			require.Equal(t, []string{"10", itoa(9 - i)}, []string{a.Header.Get("X-RateLimit-Limit"), a.Header.Get("X-RateLimit-Remaining")})
		}
		a := get(h, "/v1/x", user, key("key_ana"))
		require.Equal(t, 429, a.Status)
		require.Equal(t, body429("free", 6), a.Body)
		require.Equal(t, 200, get(h, "/v1/x", user, key("key_bea")).Status, "another user behind the same address")
		require.Equal(t, 429, get(h, "/v1/x", guesser, key("key_bea")).Status, "the guesser is out, whatever he guesses")
	})
}

// One limiter for 100,000 users over five tiers, with deals of their own.
func TestManyUsers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		p := core.Plans{
			Tiers: map[string]core.Quota{
				"t1": core.PerMinute(10), "t2": core.PerMinute(20), "t3": core.PerMinute(30), "t4": core.PerMinute(40), "t5": core.PerMinute(50),
			},
			Overrides: map[string]core.Quota{"u7": core.PerMinute(7), "u8": core.Unlimited(), "u9": core.Blocked()},
		}
		w := newWorldWith(t, p)
		h := one(s, stacktest.Limit{Limiter: w.limiter, Identify: func(r *http.Request) (core.Identity, error) {
			u := r.Header.Get("X-User")
			return core.Identity{Key: "u" + u, Tier: "t" + itoa(1+int(u[len(u)-1]-'0')%5)}, nil
		}})
		users := 100_000
		if s.Name != "nethttp" { // the limiter is the same; once is enough
			users = 5000
		}
		r := httptest.NewRequest(http.MethodGet, "/x", http.NoBody)
		for i := range users {
			r.Header["X-User"] = []string{itoa(i)}
			out := sink{}
			h.ServeHTTP(&out, r)
			a := answer{Status: out.status, Header: out.header}
			switch i {
			case 7:
				require.Equal(t, 6, a.remaining())
			case 8:
				require.Empty(t, a.rate())
			case 9:
				require.Equal(t, 403, a.Status)
			default:
				if want := 10*(1+i%10%5) - 1; a.remaining() != want {
					require.Equal(t, want, a.remaining(), "user %d", i)
				}
			}
		}
	})
}

// A look costs nothing and writes nothing, whatever route it is behind.
func TestPeekingOverHTTP(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		told := 0
		w := newWorld(t, core.WithObserver(func(context.Context, core.Event) { told++ }))
		h := s.Build(stacktest.Service{Routes: routes(
			route("/x", ok, limit(w.limiter)),
			route("/usage", func(c *stacktest.Call) error {
				id, _ := byKey(c.Request)
				d := w.limiter.Peek(c.Request.Context(), id, 5)
				httplimit.XRateLimit(c.Writer.Header(), d)
				return c.Text(200, d.Outcome.String())
			}),
		)})
		require.Equal(t, rate("10", "10", "1790000000"), get(h, "/usage", key("key_ana")).rate())
		for range 3 {
			get(h, "/x", key("key_ana"))
		}
		for range 100 {
			a := get(h, "/usage", key("key_ana"))
			require.Equal(t, rate("10", "7", "1790000018"), a.rate())
			require.Equal(t, "allowed", a.Body)
		}
		require.Equal(t, []int{3, 3}, []int{w.store.calls(), told})
	})
}

// X-RateLimit-Reset in both units, Retry-After in seconds in both.
func TestUnitsOfReset(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		for unit, f := range map[string]httplimit.HeaderFunc{"epoch": httplimit.XRateLimit, "delta": httplimit.XRateLimitDelta} {
			w := newWorld(t)
			w.clock.Advance(300 * time.Millisecond)
			l := limit(w.limiter)
			l.Headers = f
			h := one(s, l)
			for i := range 11 {
				a := get(h, "/x", key("key_ana"))
				seconds := min(i+1, 10) * 6
				want := itoa(seconds)
				if unit == "epoch" {
					want = itoa(1_790_000_000 + seconds + 1) // 0.3 s, rounded up
				}
				require.Equal(t, want, a.Header.Get("X-RateLimit-Reset"))
				if i == 10 {
					require.Equal(t, "6", a.Header.Get("Retry-After"))
				} else {
					require.Empty(t, a.Header.Get("Retry-After"))
				}
			}
		}
	})
}

// A client that waits exactly as told is let in.
func TestWaitingAsToldIsEnough(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		quota := core.Per(7, time.Second).And(core.PerMinute(10)).And(core.PerHour(30).Using(core.FixedWindow))
		w := newWorldWith(t, core.Plans{Tiers: map[string]core.Quota{"free": quota}, Default: "free"})
		// Behind the limiter, Cost(6) of an empty bucket would be told the wait for
		// the first unit, which comes before it: WithCost counts the whole price.
		h := s.Build(stacktest.Service{Routes: routes(route("/x", ok, limit(w.limiter)), route("/dear", ok, stacktest.Cost(6), limit(w.limiter)))})
		refused := 0
		for i := range 60 {
			path := []string{"/x", "/dear"}[i%2]
			a := get(h, path, key("key_ana"))
			if a.Status == 200 {
				continue
			}
			refused++
			require.Equal(t, 429, a.Status)
			wait, err := time.ParseDuration(a.Header.Get("Retry-After") + "s")
			require.NoError(t, err)
			w.clock.Advance(wait)
			require.Equal(t, 200, get(h, path, key("key_ana")).Status, "step %d, after %v", i, wait)
		}
		require.Greater(t, refused, 10)
	})
}

// Plans change while requests run.
func TestPlansChangeAtRuntime(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		h := one(s, limit(w.limiter))
		require.Equal(t, 9, get(h, "/x", key("key_ana")).remaining())
		require.NoError(t, w.limiter.SetPlans(core.Plans{Tiers: map[string]core.Quota{"basic": core.PerMinute(5)}, Default: "basic"}))
		require.Equal(t, []string{"5", "4"}, headersOf(get(h, "/x", key("key_ana"))))
		require.Error(t, w.limiter.SetPlans(core.Plans{}))
		require.Equal(t, []string{"5", "3"}, headersOf(get(h, "/x", key("key_ana"))))
	})
}

func headersOf(a answer) []string {
	return []string{a.Header.Get("X-RateLimit-Limit"), a.Header.Get("X-RateLimit-Remaining")}
}

// Nothing of a request stays when it is over.
func TestNoMemoryIsKeptPerRequest(t *testing.T) {
	for _, s := range stacktest.Stacks() {
		w := newWorld(t)
		l, err := core.New(w.store.Store, plans, core.WithClock(w.clock))
		require.NoError(t, err)
		refunding := limitAs(l, ana)
		refunding.Refund = func(int) bool { return true }
		h := s.Build(stacktest.Service{Use: layers(refunding), Routes: routes(
			route("/x", func(c *stacktest.Call) error { c.SetCost(3); return ok(c) }, stacktest.Cost(2)),
		)})
		r := httptest.NewRequest(http.MethodGet, "/x", http.NoBody)
		run := func() uint64 {
			for range 3000 {
				out := sink{}
				h.ServeHTTP(&out, r)
				if out.status != 200 {
					t.Fatal("refused")
				}
			}
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		run()
		a := run()
		b := run()
		require.Less(t, int64(b)-int64(a), int64(200_000), s.Name) // 3000 requests at a mere 67 bytes each
	}
}

// sink is a writer that costs little.
type sink struct {
	header http.Header
	status int
}

func (s *sink) Header() http.Header {
	if s.header == nil {
		s.header = http.Header{}
	}
	return s.header
}

func (s *sink) WriteHeader(status int) { s.status = status }

func (s *sink) Write(b []byte) (int, error) {
	if s.status == 0 {
		s.status = http.StatusOK
	}
	return len(b), nil
}
