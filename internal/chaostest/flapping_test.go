package chaostest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/redistest"
)

// TestRedisComesAndGoes every 400 ms: the local buckets are not filled again
// each time.
func TestRedisComesAndGoes(t *testing.T) { //nolint:paralleltest // it has the machine for itself
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr())
	option := s.ClientOption()
	redistest.Through(p)(&option)
	f := serve(t, option)
	f.load(t, light)
	const flaps = 5
	o := f.suffer(t, 0, func() {
		for range flaps {
			p.Refuse(true)
			p.Reset()
			rest(400 * time.Millisecond)
			p.Heal()
			rest(400 * time.Millisecond)
		}
	}, func() {})
	f.requireFew(t)
	f.requireAdmitted(t, o, 0)
	f.requireBack(t, o)
	for key, a := range f.snapshot() {
		if key.Tier == "free" {
			require.LessOrEqual(t, a.local.n, 11, "%+v: one burst of both, and not one a flap", key)
			require.LessOrEqual(t, a.shared.n, 11, "%+v", key)
		}
	}
}
