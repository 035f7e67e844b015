package stacktest_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
	"github.com/tierlimit/tierlimit/internal/stacktest"
)

// one builds a service with a single route behind l.
func one(s stacktest.Stack, l stacktest.Limit) http.Handler {
	return s.Build(stacktest.Service{Use: layers(l), Routes: routes(route("/x", ok))})
}

func TestNobodyIsChargedByAddress(t *testing.T) {
	t.Parallel()
	proxy := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	type step struct {
		peer      string
		forwarded []string
		left      int
	}
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		for name, c := range map[string]struct {
			proxies []netip.Prefix
			bits    int
			steps   []step
		}{
			"one bucket an address": {steps: []step{
				{"192.0.2.1:1", nil, 9}, {"192.0.2.1:2", nil, 8}, {"192.0.2.2:1", nil, 9}, {"[::ffff:192.0.2.1]:1", nil, 7},
			}},
			"a forged header is not read": {steps: []step{
				{"192.0.2.1:1", []string{"6.6.6.6"}, 9},
				{"192.0.2.1:1", []string{"6.6.6.7, 6.6.6.8"}, 8},
				{"192.0.2.1:1", nil, 7},
				{"10.0.0.1:1", []string{"192.0.2.1"}, 9},
			}},
			"behind a trusted proxy": {proxies: proxy, steps: []step{
				{"10.0.0.1:1", []string{"6.6.6.6, 203.0.113.9"}, 9},
				{"10.0.0.2:1", []string{"6.6.6.7", "203.0.113.9"}, 8},
				{"10.0.0.1:1", []string{"203.0.113.9, 10.9.9.9"}, 7},
				{"203.0.113.9:5", []string{"1.1.1.1"}, 6},
				{"10.0.0.1:1", []string{"203.0.113.10"}, 9},
			}},
			"a bad entry means the peer": {proxies: proxy, steps: []step{
				{"10.0.0.1:1", []string{"203.0.113.9, unknown"}, 9},
				{"10.0.0.1:1", []string{"203.0.113.9, "}, 8},
				{"10.0.0.1:1", nil, 7},
				{"10.0.0.1:1", []string{"junk"}, 6},
			}},
			"IPv6 by its /64": {steps: []step{
				{"[2001:db8:1:2::1]:1", nil, 9}, {"[2001:db8:1:2:ffff::9]:1", nil, 8}, {"[2001:db8:1:3::1]:1", nil, 9}, {"[2001:db8:1:2::1%eth0]:1", nil, 7},
			}},
			"IPv6 by its /56": {bits: 56, steps: []step{
				{"[2001:db8:1:200::1]:1", nil, 9}, {"[2001:db8:1:2ff::1]:1", nil, 8}, {"[2001:db8:1:300::1]:1", nil, 9},
			}},
		} {
			w := newWorld(t)
			l := limit(w.limiter)
			l.Proxies, l.IPv6Prefix = c.proxies, c.bits
			h := one(s, l)
			for i, step := range c.steps {
				changes := []change{from(step.peer)}
				if step.forwarded != nil {
					changes = append(changes, header("X-Forwarded-For", step.forwarded...),
						header("X-Real-Ip", step.forwarded...), header("Forwarded", "for="+step.forwarded[0]))
				}
				require.Equal(t, step.left, get(h, "/x", changes...).remaining(), "%s, step %d", name, i)
			}
		}
		l := limit(newWorld(t).limiter)
		l.IPv6Prefix = 129
		require.Panics(t, func() { one(s, l) })
	})
}

func TestMissingPolicies(t *testing.T) {
	t.Parallel()
	nobodies := map[string]change{
		"no key":       header("X-Other", "x"),
		"unknown key":  key("nobody"),
		"white space":  key("key_blank"),
		"empty header": key(""),
	}
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		for name, who := range nobodies {
			w := newWorld(t)
			for policy, want := range map[core.Policy]answer{
				core.UseDefault:     {Status: 200},
				core.UseTier("pro"): {Status: 200},
				core.Allow:          {Status: 200, Body: "served"},
				core.Deny(401):      {Status: 401, Body: `{"error":"Unauthorized"}`},
				core.Deny(418):      {Status: 418, Body: `{"error":"I'm a teapot"}`},
				core.Deny(599):      {Status: 599, Body: `{"error":"request denied"}`},
			} {
				l := w.with(core.OnMissing(policy), core.WithScope("s"))
				a := get(one(s, limit(l)), "/x", who)
				require.Equal(t, want.Status, a.Status, name)
				switch policy {
				case core.UseDefault:
					require.Equal(t, 9, a.remaining(), name)
				case core.UseTier("pro"):
					require.Equal(t, 99, a.remaining(), name)
				default:
					require.Equal(t, want.Body, a.Body, name)
					require.Empty(t, a.rate(), name)
				}
			}
		}
	})
}

// No default tier: what needs one is refused.
func TestNoDefaultTier(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorldWith(t, core.Plans{Tiers: map[string]core.Quota{"free": core.PerMinute(10)}})
		h := one(s, limit(w.limiter))
		for _, who := range []string{"", "key_eva"} {
			a := get(h, "/x", key(who))
			require.Equal(t, 403, a.Status)
			a.says(t, `{"error":"Forbidden"}`)
			require.Empty(t, a.rate())
		}
		require.Zero(t, w.store.calls())
	})
}

func TestIdentifyErrors(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		for _, step := range []struct {
			err    error
			status int
			body   string
		}{
			{errors.New("dial tcp 10.1.2.3:5432: secret"), 503, `{"error":"service unavailable"}`},
			{httplimit.ErrBodyTooLarge, 413, `{"error":"payload too large"}`},
			{errors.Join(errors.New("x"), httplimit.ErrBodyTooLarge), 413, `{"error":"payload too large"}`},
			{httplimit.ErrBodyRead, 400, `{"error":"failed to read request body"}`},
		} {
			h := one(s, stacktest.Limit{Limiter: w.limiter, Identify: func(*http.Request) (core.Identity, error) { return ana, step.err }})
			a := get(h, "/x")
			require.Equal(t, step.status, a.Status)
			require.Equal(t, step.body, a.Body)
			require.Empty(t, a.rate())
		}
		require.Zero(t, w.store.calls())
		require.Equal(t, 10, w.left(ana))
	})
}

// A key that stands in the body; the handler still reads all of it.
func TestIdentifyByBody(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		byBody := stacktest.Limit{Limiter: w.limiter, Identify: func(r *http.Request) (core.Identity, error) {
			body, err := httplimit.PeekBody(r, 7)
			return accounts[string(body)], err
		}}
		h := s.Build(stacktest.Service{Use: layers(byBody), Routes: routes(route("/x", func(c *stacktest.Call) error {
			body, err := httplimit.PeekBody(c.Request, 100)
			if err != nil {
				return err
			}
			return c.Text(200, string(body))
		}))})
		send := func(body *http.Request) answer {
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, body)
			return answer{rec.Code, rec.Body.String(), rec.Header()}
		}
		a := send(httptest.NewRequest(http.MethodPost, "/x", strings.NewReader("key_ana")))
		require.Equal(t, 200, a.Status)
		require.Equal(t, "key_ana", a.Body)
		require.Equal(t, 9, a.remaining())
		require.Equal(t, 413, send(httptest.NewRequest(http.MethodPost, "/x", strings.NewReader("key_anna"))).Status)
		require.Equal(t, 400, send(httptest.NewRequest(http.MethodPost, "/x", iotest.ErrReader(errors.New("reset")))).Status)
	})
}

func TestClientIsGoneBeforeTheCheck(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t, core.OnStorageError(core.Deny(503)))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		served := 0
		h := s.Build(counting(stacktest.Service{Use: layers(limit(w.limiter)), Routes: routes(route("/x", ok))}, &served))
		a := get(h, "/x", key("key_ana"), under(ctx))
		require.Equal(t, 499, a.Status)
		require.Empty(t, a.Body)
		require.Empty(t, a.rate())
		require.Zero(t, served)
		require.Equal(t, 10, w.left(ana))
		failing := one(s, stacktest.Limit{Limiter: w.limiter, Identify: func(r *http.Request) (core.Identity, error) {
			return core.Identity{}, r.Context().Err()
		}})
		require.Equal(t, 499, get(failing, "/x", under(ctx)).Status)
	})
}

func TestTiersWithoutNumbers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		h := s.Build(stacktest.Service{Use: layers(limit(w.limiter)), Routes: routes(route("/x", ok), route("/dear", ok, stacktest.Cost(5000)))})
		for range 4 {
			for _, path := range []string{"/x", "/dear"} {
				a := get(h, path, key("key_rich"))
				require.Equal(t, 200, a.Status)
				require.Empty(t, a.rate())
				a = get(h, path, key("key_banned"))
				require.Equal(t, 403, a.Status)
				a.says(t, `{"error":"Forbidden"}`)
				require.Empty(t, a.rate())
			}
		}
		require.Zero(t, w.store.calls())
		for range 4 {
			a := get(h, "/x", key("key_tried"))
			require.Equal(t, 200, a.Status)
			require.Empty(t, a.rate())
			require.Equal(t, 200, get(h, "/dear", key("key_tried")).Status)
		}
	})
}

// A shadow tier refuses nobody, however far over its quota.
func TestAShadowTierRefusesNobody(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		h := s.Build(stacktest.Service{Use: layers(limit(w.limiter)), Routes: routes(route("/x", ok))})
		for range 5 {
			a := get(h, "/x", key("key_tried"))
			require.Equal(t, 200, a.Status)
			a.says(t, "served")
			require.Empty(t, a.rate())
			require.Empty(t, a.Header.Get("Retry-After"))
		}
	})
}

// Policies that deny on one group while the rest stays open.
func TestPoliciesByGroup(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		members := w.with(core.OnMissing(core.Deny(401)))
		h := s.Build(stacktest.Service{
			Use:    layers(limit(w.limiter)),
			Routes: routes(route("/open", ok)),
			Groups: []stacktest.Group{{Prefix: "/members", Use: layers(limit(members)), Routes: routes(route("/x", ok))}},
		})
		require.Equal(t, 9, get(h, "/open").remaining())
		a := get(h, "/members/x")
		require.Equal(t, 401, a.Status)
		require.Empty(t, a.rate())
		require.Equal(t, 8, get(h, "/open").remaining(), "the refused request was given back")
		require.Equal(t, 9, get(h, "/members/x", key("key_ana")).remaining())
	})
}
