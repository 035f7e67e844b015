package stacktest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
	"github.com/tierlimit/tierlimit/internal/stacktest"
)

func TestHeadersBelongToTheStricter(t *testing.T) {
	t.Parallel()
	own := func(h http.Header, d core.Decision) {
		h.Set("X-Own-Left", itoa(d.Level.Remaining))
		h.Set("X-Own-Tier", d.Tier)
	}
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		with := func(id core.Identity, f httplimit.HeaderFunc) stacktest.Limit {
			l := limitAs(w.limiter, id)
			l.Headers = f
			return l
		}
		draft := []string{`Ratelimit: "free";r=9;t=6`, `Ratelimit-Policy: "free";q=10;w=60`}
		for name, step := range map[string]struct {
			a, b stacktest.Limit
			want []string
		}{
			"the least left, first":         {with(ana, nil), with(bea, nil), rate("10", "9", unix(w, 6))},
			"the least left, second":        {with(bea, nil), with(ana, nil), rate("10", "9", unix(w, 6))},
			"custom loses":                  {with(bea, own), with(ana, nil), rate("10", "9", unix(w, 6))},
			"custom wins":                   {with(bea, nil), with(ana, own), []string{"X-Own-Left: 9", "X-Own-Tier: free"}},
			"draft wins":                    {with(bea, httplimit.XRateLimit), with(ana, httplimit.Draft), draft},
			"draft loses":                   {with(bea, httplimit.Draft), with(ana, httplimit.XRateLimit), rate("10", "9", unix(w, 6))},
			"none speaks for nobody":        {with(bea, nil), with(ana, httplimit.None), rate("100", "99", unix(w, 1))},
			"none speaks for nobody, first": {with(bea, httplimit.None), with(ana, nil), rate("10", "9", unix(w, 6))},
			"both loses to one":             {with(bea, httplimit.Both(httplimit.XRateLimit, httplimit.Draft)), with(ana, httplimit.Draft), draft},
			"unlimited says nothing":        {with(accounts["key_rich"], nil), with(ana, nil), rate("10", "9", unix(w, 6))},
			"unlimited says nothing later":  {with(ana, nil), with(accounts["key_rich"], nil), rate("10", "9", unix(w, 6))},
			"a shadow says nothing":         {with(ana, nil), with(accounts["key_tried"], nil), rate("10", "9", unix(w, 6))},
			"only a shadow":                 {with(accounts["key_tried"], nil), with(accounts["key_tried"], nil), nil},
		} {
			var early []string
			h := s.Build(stacktest.Service{Use: layers(step.a, step.b), Routes: routes(route("/x", func(c *stacktest.Call) error {
				early = answer{Header: c.Writer.Header().Clone()}.rate()
				return ok(c)
			}))})
			a := get(h, "/x")
			require.Equal(t, 200, a.Status, name)
			require.Equal(t, step.want, a.rate(), name)
			require.Equal(t, step.want, early, name)
			require.NoError(t, w.limiter.Reset(t.Context(), ana))
			require.NoError(t, w.limiter.Reset(t.Context(), bea))
		}
	})
}

// Equal numbers: the earlier limiter speaks. After a Cost, whoever has less.
func TestHeadersOfEquallyStrictLimiters(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		named := func(name string, id core.Identity) stacktest.Limit {
			l := limitAs(w.limiter, id)
			l.Headers = func(h http.Header, _ core.Decision) { h.Set("X-Own-Name", name) }
			return l
		}
		zoe := core.Identity{Key: "key_zoe", Tier: "free"}
		h := s.Build(stacktest.Service{Use: layers(named("first", ana), named("second", zoe)), Routes: routes(
			route("/x", ok), route("/y", ok, stacktest.Cost(4)),
		)})
		require.Equal(t, []string{"X-Own-Name: first"}, get(h, "/x").rate())
		require.Equal(t, []string{"X-Own-Name: first"}, get(h, "/y").rate())
		w.limiter.Take(t.Context(), zoe, 1)
		require.Equal(t, []string{"X-Own-Name: second"}, get(h, "/x").rate())
		a := get(h, "/y")
		require.Equal(t, 429, a.Status)
		require.Equal(t, []string{"Retry-After: 6", "X-Own-Name: second"}, a.rate())
	})
}

// A refusal's headers win over an allowed decision with less left.
func TestHeadersOfARefusalWin(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		w.limiter.Take(t.Context(), ana, 9)
		dear := limitAs(w.limiter, hugo)
		dear.Cost = func(*http.Request) int { return 24 }
		w.limiter.Take(t.Context(), hugo, 2)
		a := get(s.Build(stacktest.Service{Use: layers(limitAs(w.limiter, ana), dear), Routes: routes(route("/x", ok))}), "/x")
		require.Equal(t, 429, a.Status)
		require.Equal(t, append([]string{"Retry-After: 144"}, rate("25", "23", "1790000288")...), a.rate())
		require.Equal(t, []int{1, 23}, []int{w.left(ana), w.left(hugo)})
	})
}
