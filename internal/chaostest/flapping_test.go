package chaostest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRedisComesAndGoes every 400 ms: the local buckets are not filled again
// each time.
func TestRedisComesAndGoes(t *testing.T) { //nolint:paralleltest // it has the machine for itself
	s, p, option := proxied(t)
	calmly(t, func(t *testing.T) *noise {
		t.Helper()
		s.Do(t, "flushall")
		f := serve(t, option, light)
		f.load(t)
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
		f.requireAdmitted(t, fault{}, 0) // it comes back more than once
		f.requireBack(t, o)
		for key, a := range f.snapshot() {
			if key.Tier == "free" {
				require.LessOrEqual(t, a.local.n, 11, "%+v: one burst of both, and not one a flap", key)
				require.LessOrEqual(t, a.shared.n, 11, "%+v", key)
			}
		}
		if f.noise.calm() {
			require.LessOrEqual(t, f.changes.Load(), int64(flaps*fewChanges))
			require.GreaterOrEqual(t, f.changes.Load(), int64(flaps*2), "it was away")
		}
		return f.noise
	})
}
