package chaostest_test

import (
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/redistest"
)

// fewChanges are those of all stores in one outage: each falls back and comes
// back, and at its end an answer of before may come after one of afterwards.
const fewChanges = 4 * instances

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

// endure has a fleet suffer an outage until it was calm meanwhile.
func endure(t *testing.T, s *redistest.Server, forgotten int, option rueidis.ClientOption, breaks, mends func()) {
	t.Helper()
	calmly(t, func(t *testing.T) *noise {
		t.Helper()
		s.Do(t, "flushall")
		f := serve(t, option, full)
		f.load(t)
		o := f.suffer(t, outage, breaks, mends)
		f.requireOutage(t, o, forgotten)
		return f.noise
	})
}

// proxied is a Redis behind a proxy.
func proxied(t *testing.T) (*redistest.Server, *redistest.Proxy, rueidis.ClientOption) {
	t.Helper()
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr())
	option := s.ClientOption()
	redistest.Through(p)(&option)
	return s, p, option
}

func TestRedisIsKilledAndComesBackEmpty(t *testing.T) { //nolint:paralleltest // it has the machine for itself
	s := redistest.Start(t)
	endure(t, s, 1, s.ClientOption(), func() { s.Kill(t) }, func() { s.Restart(t) })
}

func TestRedisIsFrozen(t *testing.T) { //nolint:paralleltest // as above
	s := redistest.Start(t)
	endure(t, s, 0, s.ClientOption(), func() { s.Freeze(t) }, func() { s.Thaw(t) })
}

func TestTheNetworkIsABlackHole(t *testing.T) { //nolint:paralleltest // as above
	s, p, option := proxied(t)
	endure(t, s, 0, option, func() { p.BlackHole(true) }, p.Heal)
}

func TestRedisIsFiveSecondsSlow(t *testing.T) { //nolint:paralleltest // as above
	s, p, option := proxied(t)
	endure(t, s, 0, option, func() { p.Delay(5 * time.Second) }, p.Heal)
}
