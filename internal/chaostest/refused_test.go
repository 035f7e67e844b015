package chaostest_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/redistest"
)

// requireRefused asserts what it is like when Redis is there and does not write:
// what would be charged goes to the local stores, what is refused anyway is told
// by Redis, and no breaker opens.
func (f *fleet) requireRefused(t *testing.T, o fault) {
	t.Helper()
	f.requireFew(t)
	f.requireQuick(t, o, false)
	f.requireDegraded(t, o, true)
	f.requireAdmitted(t, o, 0)
	f.requireServed(t, o)
	f.requireBack(t, o)
	require.Positive(t, f.errors["refused"])
	if f.noise.calm() {
		require.Len(t, f.errors, 1, "%v", f.errors)
		require.LessOrEqual(t, f.changes.Load(), int64(fewChanges))
	}
}

// refuse has a fleet meet a Redis that does not write, until it was calm
// meanwhile.
func refuse(t *testing.T, s *redistest.Server, breaks, mends func()) {
	t.Helper()
	calmly(t, func(t *testing.T) *noise {
		t.Helper()
		s.Do(t, "flushall")
		f := serve(t, s.ClientOption(), full)
		f.load(t)
		o := f.suffer(t, outage/2, breaks, mends)
		f.requireRefused(t, o)
		return f.noise
	})
}

func TestRedisIsMadeAReplica(t *testing.T) { //nolint:paralleltest // it has the machine for itself
	s := redistest.Start(t)
	nobody := redistest.Reserve(t)
	refuse(t, s,
		func() { s.Do(t, "replicaof", "127.0.0.1", nobody[len("127.0.0.1:"):]) },
		func() { s.Do(t, "replicaof", "no", "one") })
}

func TestRedisIsFull(t *testing.T) { //nolint:paralleltest // as above
	s := redistest.Start(t)
	refuse(t, s,
		func() { s.Do(t, "config", "set", "maxmemory", "1") },
		func() { s.Do(t, "config", "set", "maxmemory", "0") })
}

// TestScriptsAreForgotten: nobody notices, and nothing is charged twice.
func TestScriptsAreForgotten(t *testing.T) { //nolint:paralleltest // as above
	s := redistest.Start(t)
	calmly(t, func(t *testing.T) *noise {
		t.Helper()
		s.Do(t, "flushall")
		f := serve(t, s.ClientOption(), full)
		f.load(t)
		for range 30 {
			s.Do(t, "script", "flush")
			rest(50 * time.Millisecond)
		}
		f.stop()
		f.requireAdmitted(t, fault{}, 0)
		if f.noise.calm() {
			require.Empty(t, f.errors)
			require.Zero(t, f.changes.Load())
		}

		// One by one, so that it can be counted.
		for i := range 10 {
			s.Do(t, "script", "flush")
			w := f.ask(i%instances, "/data", "free", "once")
			require.Equal(t, 200, w.Code)
			require.Equal(t, strconv.Itoa(9-i), w.Header().Get("X-RateLimit-Remaining"))
		}
		require.Equal(t, 429, f.ask(0, "/data", "free", "once").Code)
		return f.noise
	})
}
