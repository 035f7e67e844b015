package stacktest_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/stacktest"
)

func TestStoreFailures(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		strict := w.with(core.OnStorageError(core.Deny(503)))
		other := w.with(core.OnStorageError(core.Deny(429)))
		h := s.Build(stacktest.Service{
			Routes: routes(route("/open", ok, limit(w.limiter)), route("/priced", ok, limit(w.limiter), stacktest.Cost(5)), route("/odd", ok, limit(other))),
			Groups: []stacktest.Group{{Prefix: "/strict", Use: layers(limit(strict)), Routes: routes(route("/x", ok))}},
		})
		w.store.failWith(func(core.Request) error { return errors.New("redis 10.1.2.3 is away") })
		for _, path := range []string{"/open", "/priced"} {
			a := get(h, path, key("key_ana"))
			require.Equal(t, 200, a.Status)
			require.Equal(t, "served", a.Body)
			require.Empty(t, a.rate())
		}
		a := get(h, "/strict/x", key("key_ana"))
		require.Equal(t, 503, a.Status)
		a.says(t, `{"error":"service unavailable"}`)
		require.Empty(t, a.rate())
		a = get(h, "/odd", key("key_ana"))
		require.Equal(t, 429, a.Status)
		a.says(t, `{"error":"Too Many Requests"}`)
		require.Empty(t, a.rate())
		require.Equal(t, 200, get(h, "/strict/x", key("key_rich")).Status)

		w.store.failWith(func(core.Request) error { return core.ErrUnsupported })
		a = get(h, "/open", key("key_ana"))
		require.Equal(t, 503, a.Status)
		a.says(t, `{"error":"service unavailable"}`)

		w.store.failWith(nil)
		require.Equal(t, 9, get(h, "/open", key("key_ana")).remaining())
	})
}

// The store fails when a Cost asks for the rest.
func TestStoreFailsAtTheRaise(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		h := s.Build(stacktest.Service{Use: layers(limit(w.limiter)), Routes: routes(route("/x", ok, stacktest.Cost(5)))})
		w.store.failWith(func(r core.Request) error {
			if r.Mode != core.Look && r.Cost != 1 {
				return errors.New("away")
			}
			return nil
		})
		a := get(h, "/x", key("key_ana"))
		require.Equal(t, 200, a.Status)
		require.Empty(t, a.rate())
		require.Equal(t, 9, w.left(ana))

		strict := s.Build(stacktest.Service{Use: layers(limit(w.with(core.OnStorageError(core.Deny(503))))), Routes: routes(route("/x", ok, stacktest.Cost(5)))})
		a = get(strict, "/x", key("key_bea"))
		require.Equal(t, 503, a.Status)
		require.Empty(t, a.rate())
		require.Equal(t, 99, w.left(bea), "the give-back of the first unit failed too")
	})
}
