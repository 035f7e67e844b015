package chaostest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// most is what one GCRA window admits in a span of time. The first window of
// each plan here is the one that binds.
func most(l core.Limit, span time.Duration) int { return l.Burst + int(span/l.Emission()) + 1 }

// requireAdmitted asserts the arithmetic of package fallbackstore for each
// caller. Forgotten is how often Redis may have lost what it knew.
func (f *fleet) requireAdmitted(t *testing.T, o fault, forgotten int) {
	t.Helper()
	for key, a := range o.snapshot {
		if !f.noise.calm() {
			break // there may have been more switches than one
		}
		// Until Redis is back: one limit, and one burst.
		l := a.limits[0]
		span := max(a.shared.last, a.local.last) - a.shared.first
		require.LessOrEqual(t, a.shared.n+a.local.n, most(l, span)+l.Burst+instances, "%+v: %+v", key, a)
		if key.Tier != "free" && a.local.n > 0 { // and it is asked for all of it
			require.Greater(t, a.shared.n+a.local.n, most(l, span)*2/3, "%+v: %+v", key, a)
		}
	}
	var shared, local int
	for key, a := range f.snapshot() {
		l, own := a.limits[0], a.limits[0]
		own.Count, own.Burst = own.Count/instances, own.Burst/instances
		require.LessOrEqual(t, a.shared.n, most(l, a.shared.span())+forgotten*l.Burst, "%+v: %+v", key, a)
		require.LessOrEqual(t, a.local.n, instances*most(own, a.local.span()), "%+v: %+v", key, a)
		shared, local = shared+a.shared.n, local+a.local.n
	}
	t.Logf("admitted: %d units by the shared limit, %d locally", shared, local)
}

// requireServed asserts that an outage closed nothing: who has a right to much
// got a good part of it.
func (f *fleet) requireServed(t *testing.T, o fault) {
	t.Helper()
	for key, a := range f.snapshot() {
		if key.Tier == "bulk" {
			require.Greater(t, a.local.n, int((o.ended-o.began)/a.limits[0].Emission())/2, "%+v", key)
		}
	}
}
