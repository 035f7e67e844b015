package stacktest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/stacktest"
)

// Where Cost(20) stands on a tier of 25 an hour makes no difference to what is
// paid. A refusal leaves the 5 that there were.
func TestCostOnBothSidesOfTheLimiter(t *testing.T) {
	t.Parallel()
	build := map[string]func(l *core.Limiter) stacktest.Service{
		"behind the limiter, on the route": func(l *core.Limiter) stacktest.Service {
			return stacktest.Service{Use: layers(limit(l)), Routes: routes(route("/v1/x", ok, stacktest.Cost(20)))}
		},
		"before the limiter, for all": func(l *core.Limiter) stacktest.Service {
			return stacktest.Service{Use: layers(stacktest.Cost(20), limit(l)), Routes: routes(route("/v1/x", ok))}
		},
		"before the limiter, on the route": func(l *core.Limiter) stacktest.Service {
			return stacktest.Service{Routes: routes(route("/v1/x", ok, stacktest.Cost(20), limit(l)))}
		},
		"behind the limiter, on a group": func(l *core.Limiter) stacktest.Service {
			return stacktest.Service{Use: layers(limit(l)), Groups: []stacktest.Group{{
				Prefix: "/v1", Use: layers(stacktest.Cost(20)), Routes: routes(route("/x", ok)),
			}}}
		},
		"before the limiter, on a group": func(l *core.Limiter) stacktest.Service {
			return stacktest.Service{Groups: []stacktest.Group{{
				Prefix: "/v1", Use: layers(stacktest.Cost(20), limit(l)), Routes: routes(route("/x", ok)),
			}}}
		},
		"on a group, and the limiter on the route": func(l *core.Limiter) stacktest.Service {
			return stacktest.Service{Groups: []stacktest.Group{{
				Prefix: "/v1", Use: layers(stacktest.Cost(20)), Routes: routes(route("/x", ok, limit(l))),
			}}}
		},
		"on the route, and the limiter on the group": func(l *core.Limiter) stacktest.Service {
			return stacktest.Service{Groups: []stacktest.Group{{
				Prefix: "/v1", Use: layers(limit(l)), Routes: routes(route("/x", ok, stacktest.Cost(20))),
			}}}
		},
		"group 5 and route 20, both behind": func(l *core.Limiter) stacktest.Service {
			return stacktest.Service{Use: layers(limit(l)), Groups: []stacktest.Group{{
				Prefix: "/v1", Use: layers(stacktest.Cost(5)), Routes: routes(route("/x", ok, stacktest.Cost(20))),
			}}}
		},
		"group 5 and route 20, both before": func(l *core.Limiter) stacktest.Service {
			return stacktest.Service{Groups: []stacktest.Group{{
				Prefix: "/v1", Use: layers(stacktest.Cost(5)), Routes: routes(route("/x", ok, stacktest.Cost(20), limit(l))),
			}}}
		},
		"group 5 before and route 20 behind": func(l *core.Limiter) stacktest.Service {
			return stacktest.Service{Groups: []stacktest.Group{{
				Prefix: "/v1", Use: layers(stacktest.Cost(5), limit(l)), Routes: routes(route("/x", ok, stacktest.Cost(20))),
			}}}
		},
	}
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		for name, service := range build {
			w := newWorld(t)
			served := 0
			h := s.Build(counting(service(w.limiter), &served))

			a := get(h, "/v1/x", key("key_hugo"))
			require.Equal(t, 200, a.Status, name)
			require.Equal(t, rate("25", "5", "1790002880"), a.rate(), name)
			require.Equal(t, 5, w.left(hugo), name)

			a = get(h, "/v1/x", key("key_hugo"))
			require.Equal(t, 429, a.Status, name)
			require.Equal(t, append([]string{"Retry-After: 2160"}, rate("25", "5", "1790002880")...), a.rate(), name)
			require.Equal(t, body429("hour", 2160), a.Body, name)
			require.Equal(t, 5, w.left(hugo), name)
			require.Equal(t, 1, served, name)

			w.clock.Advance(2160 * time.Second)
			require.Equal(t, 200, get(h, "/v1/x", key("key_hugo")).Status, name)
			require.Equal(t, 0, w.left(hugo), name)
		}
	})
}

// counting counts how often a handler of s runs.
func counting(s stacktest.Service, n *int) stacktest.Service {
	wrap := func(routes []stacktest.Route) {
		for i, r := range routes {
			routes[i].Handle = func(c *stacktest.Call) error {
				*n++
				return r.Handle(c)
			}
		}
	}
	wrap(s.Routes)
	for _, g := range s.Groups {
		wrap(g.Routes)
	}
	return s
}

func TestCostReachesTwoLimiters(t *testing.T) {
	t.Parallel()
	address := core.Identity{Key: "192.0.2.1", Tier: "address"}
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		byAddr := stacktest.Limit{Limiter: w.limiter, Identify: byAddress("address")}
		h := s.Build(stacktest.Service{Use: layers(byAddr), Groups: []stacktest.Group{{
			Prefix: "/v1", Use: layers(limit(w.limiter)), Routes: routes(route("/x", ok, stacktest.Cost(20)), route("/free", ok, stacktest.Cost(0))),
		}}})
		require.Equal(t, 200, get(h, "/v1/x", key("key_hugo")).Status)
		require.Equal(t, []int{40, 5}, []int{w.left(address), w.left(hugo)})

		// The user's limit refuses: the address gets everything back.
		a := get(h, "/v1/x", key("key_hugo"))
		require.Equal(t, 429, a.Status)
		require.Equal(t, body429("hour", 2160), a.Body)
		require.Equal(t, []int{40, 5}, []int{w.left(address), w.left(hugo)})

		// The address refuses: the user gets everything back.
		require.Equal(t, 200, get(h, "/v1/x", key("key_bea")).Status)
		require.Equal(t, 200, get(h, "/v1/x", key("key_bea")).Status)
		require.Equal(t, []int{0, 60}, []int{w.left(address), w.left(bea)})
		a = get(h, "/v1/x", key("key_bea"))
		require.Equal(t, 429, a.Status)
		require.Contains(t, a.Body, `"tier":"address"`)
		require.Equal(t, []int{0, 60}, []int{w.left(address), w.left(bea)})
	})
}

// The second limiter refuses the Cost when the first has been raised already.
func TestCostRefusedByTheInnerLimiterGivesTheOuterBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		h := s.Build(stacktest.Service{Use: layers(limitAs(w.limiter, bea), limitAs(w.limiter, ana)), Routes: routes(route("/x", ok, stacktest.Cost(8)))})
		require.Equal(t, 200, get(h, "/x").Status)
		require.Equal(t, []int{92, 2}, []int{w.left(bea), w.left(ana)})
		for range 3 {
			a := get(h, "/x")
			require.Equal(t, 429, a.Status)
			require.Equal(t, append([]string{"Retry-After: 36"}, rate("10", "2", "1790000048")...), a.rate())
			require.Equal(t, []int{92, 2}, []int{w.left(bea), w.left(ana)})
		}
	})
}

func TestCostBelowWhatWasChargedIsSettled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		dear := limit(w.limiter)
		dear.Cost = func(r *http.Request) int { return 8 }
		during := 0
		h := s.Build(stacktest.Service{Use: layers(dear), Routes: routes(
			route("/x", func(c *stacktest.Call) error { during = w.left(ana); return ok(c) }, stacktest.Cost(3)),
			route("/nothing", ok, stacktest.Cost(0)),
		)})
		require.Equal(t, 200, get(h, "/x", key("key_ana")).Status)
		require.Equal(t, 2, during)
		require.Equal(t, 7, w.left(ana))
		w.clock.Advance(time.Minute)
		require.Equal(t, 200, get(h, "/nothing", key("key_ana")).Status)
		require.Equal(t, 10, w.left(ana))
	})
}

func TestCostBeyondTheCapacity(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		for name, use := range map[string]func(l *core.Limiter) (use, on []stacktest.Layer){
			"behind": func(l *core.Limiter) (_, _ []stacktest.Layer) { return layers(limit(l)), layers(stacktest.Cost(50)) },
			"before": func(l *core.Limiter) (_, _ []stacktest.Layer) { return layers(stacktest.Cost(50)), layers(limit(l)) },
		} {
			w := newWorld(t)
			server, onRoute := use(w.limiter)
			served := 0
			h := s.Build(counting(stacktest.Service{Use: server, Routes: routes(route("/x", ok, onRoute...))}, &served))
			a := get(h, "/x", key("key_ana"))
			require.Equal(t, 403, a.Status, name)
			a.says(t, `{"error":"request cost exceeds tier limit","tier":"free","cost":50,"limit":10}`)
			require.Empty(t, a.rate(), name)
			require.Equal(t, 10, w.left(ana), name)
			require.Zero(t, served, name)
		}
	})
}

// What stands behind a Cost that refuses does not run, what stands before it
// sees the refusal pass.
func TestNothingRunsBehindARefusal(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		var ran []string
		note := func(name string) stacktest.Around {
			return func(_ *stacktest.Call, next func() error) error {
				ran = append(ran, name)
				err := next()
				ran = append(ran, "/"+name)
				return err
			}
		}
		h := s.Build(stacktest.Service{
			Use: layers(note("a"), limit(w.limiter), note("b")),
			Groups: []stacktest.Group{{Prefix: "/v1", Use: layers(note("c"), stacktest.Cost(20), note("d")), Routes: routes(
				route("/x", func(c *stacktest.Call) error { ran = append(ran, "handler"); return ok(c) }, note("e")),
			)}},
		})
		require.Equal(t, 200, get(h, "/v1/x", key("key_hugo")).Status)
		require.Equal(t, []string{"a", "b", "c", "d", "e", "handler", "/e", "/d", "/c", "/b", "/a"}, ran)
		ran = nil
		require.Equal(t, 429, get(h, "/v1/x", key("key_hugo")).Status)
		require.Equal(t, []string{"a", "b", "c", "/c", "/b", "/a"}, ran)
		ran = nil
		require.Equal(t, 403, get(h, "/v1/x", key("key_banned")).Status)
		require.Equal(t, []string{"a", "/a"}, ran)
	})
}

func TestCostRefusesWithTheOptionsOfTheLimiterThatRefuses(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		own := func(name string) func(*stacktest.Call, core.Decision) error {
			return func(c *stacktest.Call, d core.Decision) error {
				return c.Text(d.Status(), name+" asked "+itoa(d.Asked)+" after "+c.Writer.Header().Get("Retry-After"))
			}
		}
		first, second := limitAs(w.limiter, bea), limitAs(w.limiter, hugo)
		first.Refused, second.Refused = own("first"), own("second")
		h := s.Build(stacktest.Service{Use: layers(first, second), Routes: routes(route("/x", ok, stacktest.Cost(20)), route("/y", ok, stacktest.Cost(101)))})
		require.Equal(t, 200, get(h, "/x").Status)
		a := get(h, "/x")
		require.Equal(t, 429, a.Status)
		require.Equal(t, "second asked 20 after 2160", a.Body)
		require.Equal(t, 5, a.remaining())
		a = get(h, "/y")
		require.Equal(t, 403, a.Status)
		require.Equal(t, "first asked 101 after ", a.Body)
		require.Equal(t, []int{80, 5}, []int{w.left(bea), w.left(hugo)})
	})
}

func TestCostBelowZeroPanicsWhenTheRouteIsBuilt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		require.Panics(t, func() { s.Build(stacktest.Service{Use: layers(stacktest.Cost(-1))}) })
		w := newWorld(t)
		fixed := limit(w.limiter)
		fixed.Fixed = new(-1)
		require.Panics(t, func() { s.Build(stacktest.Service{Use: layers(fixed)}) })
		require.Panics(t, func() { s.Build(stacktest.Service{Use: layers(limit(nil))}) })
	})
}
