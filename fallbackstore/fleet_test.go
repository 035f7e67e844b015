package fallbackstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/fallbackstore"
	"github.com/tierlimit/tierlimit/memstore"
)

// fleet is n instances with a share of 1/n over one shared store, and one
// caller who asks all of them for as much as they let through.
type fleet struct {
	clock     *fakeclock.Clock
	shared    *scripted
	instances []*fallbackstore.Store
	limits    []core.Limit

	admitted []unit
	asked    [2][]time.Time // of the shared store, and of the local ones
}

// unit is one that was admitted.
type unit struct {
	at    time.Time
	local bool
}

func newFleet(n int, limits []core.Limit) *fleet {
	clock := fakeclock.New(time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC))
	f := &fleet{clock: clock, shared: script(memstore.New(memstore.WithClock(clock))), limits: limits}
	for range n {
		f.instances = append(f.instances, fallbackstore.New(f.shared, memstore.New(memstore.WithClock(clock)),
			fallbackstore.WithShare(1/float64(n))))
	}
	return f
}

// run asks for d, 50 times a window, each time until all refuse.
func (f *fleet) run(t *testing.T, d time.Duration, away bool) {
	t.Helper()
	f.shared.fail(nil)
	asked := &f.asked[0]
	if away {
		f.shared.fail(errAway)
		asked = &f.asked[1]
	}
	step := f.limits[0].Window / 50
	for end := f.clock.Now().Add(d); f.clock.Now().Before(end); f.clock.Advance(step) {
		*asked = append(*asked, f.clock.Now())
		for _, s := range f.instances {
			for res := charge(t, s, f.limits, 1); ; res = charge(t, s, f.limits, 1) {
				require.Equal(t, away, res.Degraded)
				if !res.Allowed {
					break
				}
				f.admitted = append(f.admitted, unit{f.clock.Now(), away})
			}
		}
		f.shared.requests()
	}
}

// count is how many the shared store and the local ones have admitted.
func (f *fleet) count() (shared, local int) {
	for _, u := range f.admitted {
		if u.local {
			local++
		} else {
			shared++
		}
	}
	return shared, local
}

// grants is what one bucket admits that is asked at these moments, each time
// until it refuses.
func grants(limits []core.Limit, moments []time.Time) int {
	var s core.State
	n := 0
	for _, at := range moments {
		for core.Apply(&s, at, core.Request{Limits: limits, Cost: 1}).Allowed {
			n++
		}
	}
	return n
}

// most is how many were admitted in any span of a window; in any window since
// 1970 where that is what counts.
func (f *fleet) most() int {
	l := f.limits[0]
	most, first := 0, 0
	windows := map[int64]int{}
	for i, u := range f.admitted {
		for u.at.Sub(f.admitted[first].at) >= l.Window {
			first++
		}
		n := i - first + 1
		if l.Algorithm == core.FixedWindow {
			window := u.at.UnixNano() / int64(l.Window)
			windows[window]++
			n = windows[window]
		}
		most = max(most, n)
	}
	return most
}
