package fallbackstore_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/memstore"
)

// quotaOf is the quota that has these limits, as core checks it.
func quotaOf(limits []core.Limit) core.Quota {
	var q core.Quota
	for i, l := range limits {
		own := core.Per(l.Count, l.Window)
		if l.Algorithm == core.GCRA {
			own = own.WithBurst(l.Burst)
		} else {
			own = own.Using(l.Algorithm)
		}
		if i == 0 {
			q = own
		} else {
			q = q.And(own)
		}
	}
	return q
}

// TestAnyShareIsALimitAndNotMoreThanTheShare: of any rate that core takes.
func TestAnyShareIsALimitAndNotMoreThanTheShare(t *testing.T) {
	t.Parallel()
	const most = 1 << 52 * time.Microsecond
	rng := rand.New(rand.NewPCG(1, 2))
	windows := []time.Duration{7 * time.Microsecond, time.Millisecond, time.Second, 90 * time.Second, 24 * time.Hour, most}
	stretched, valid, store := 0, 0, memstore.New()
	for range 20_000 {
		n := 2 + rng.IntN(60)
		a := core.Limit{Algorithm: core.Algorithm(rng.IntN(3)), Count: 1 + int(math.Exp(rng.Float64()*18)), Window: windows[rng.IntN(len(windows))]}
		a.Burst = a.Count
		if a.Algorithm == core.GCRA {
			a.Burst = 1 + rng.IntN(100)
			if rng.IntN(4) == 0 {
				a.Burst = max(int(most/a.Emission()), 1) // the most there is
			}
		}
		b := a
		b.Window = (b.Window / 2).Truncate(time.Microsecond)
		limits := []core.Limit{a, b}
		if _, err := core.New(store, core.Plans{Tiers: map[string]core.Quota{"t": quotaOf(limits)}}); err != nil {
			continue
		}
		valid++
		own := granted(t, 1/float64(n), limits)
		_, err := core.New(store, core.Plans{Tiers: map[string]core.Quota{"t": quotaOf(own)}})
		require.NoError(t, err, "1/%d of %v: %v", n, limits, own)
		for i, l := range own {
			rate := float64(limits[i].Count) / float64(limits[i].Window) / float64(n)
			got := float64(l.Count) / float64(l.Window)
			if l.Window < most-10*time.Microsecond {
				require.LessOrEqual(t, got, rate*(1+1e-12), "1/%d of %v: %v", n, limits[i], l)
			}
			if l.Count == 1 && l.Window != limits[i].Window && l.Window < most-10*time.Microsecond {
				stretched++
				exact := 1 / rate // the window, to a microsecond, and another where there are two
				require.LessOrEqual(t, float64(l.Window), exact*(1+1e-12)+2*float64(time.Microsecond), "1/%d of %v: %v", n, limits[i], l)
			}
		}
	}
	require.Greater(t, valid, 5000)
	require.Greater(t, stretched, 500)
}
