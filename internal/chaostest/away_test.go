package chaostest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/redistest"
)

// fewChanges are those of all stores in one outage: each falls back and comes
// back, and around that answers of before and after mix for a moment.
const fewChanges = 10 * instances

// requireOutage asserts all of what an outage that opens the breakers must be.
func (f *fleet) requireOutage(t *testing.T, o fault, forgotten int) {
	t.Helper()
	f.requireFew(t)
	f.requireQuick(t, o, true)
	f.requireDegraded(t, o, false)
	f.requireAdmitted(t, o, forgotten)
	f.requireServed(t, o)
	f.requireBack(t, o)
	for name := range f.errors {
		require.Contains(t, []string{"timeout", "unreachable", "paused", "busy"}, name)
	}
	for status := range f.statuses {
		require.Contains(t, []int{200, 429}, status, "nobody is told of it")
	}
	if f.noise.calm() {
		require.LessOrEqual(t, f.changes.Load(), int64(fewChanges))
	}
}

func TestRedisIsKilledAndComesBackEmpty(t *testing.T) { //nolint:paralleltest // it has the machine for itself
	s := redistest.Start(t)
	f := serve(t, s.ClientOption())
	f.load(t, full)
	o := f.suffer(t, outage, func() { s.Kill(t) }, func() { s.Restart(t) })
	f.requireOutage(t, o, 1)
}

func TestRedisIsFrozen(t *testing.T) { //nolint:paralleltest // as above
	s := redistest.Start(t)
	f := serve(t, s.ClientOption())
	f.load(t, full)
	o := f.suffer(t, outage, func() { s.Freeze(t) }, func() { s.Thaw(t) })
	f.requireOutage(t, o, 0)
}

func TestTheNetworkIsABlackHole(t *testing.T) { //nolint:paralleltest // as above
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr())
	option := s.ClientOption()
	redistest.Through(p)(&option)
	f := serve(t, option)
	f.load(t, full)
	o := f.suffer(t, outage, func() { p.BlackHole(true) }, p.Heal)
	f.requireOutage(t, o, 0)
}

func TestRedisIsFiveSecondsSlow(t *testing.T) { //nolint:paralleltest // as above
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr())
	option := s.ClientOption()
	redistest.Through(p)(&option)
	f := serve(t, option)
	f.load(t, full)
	o := f.suffer(t, outage, func() { p.Delay(5 * time.Second) }, p.Heal)
	f.requireOutage(t, o, 0)
}
