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

func TestRedisIsMadeAReplica(t *testing.T) { //nolint:paralleltest // it has the machine for itself
	s := redistest.Start(t)
	f := serve(t, s.ClientOption())
	f.load(t, full)
	nobody := redistest.Reserve(t)
	o := f.suffer(t, outage,
		func() { s.Do(t, "replicaof", "127.0.0.1", nobody[len("127.0.0.1:"):]) },
		func() { s.Do(t, "replicaof", "no", "one") })
	f.requireRefused(t, o)
}

func TestRedisIsFull(t *testing.T) { //nolint:paralleltest // as above
	s := redistest.Start(t)
	f := serve(t, s.ClientOption())
	f.load(t, full)
	o := f.suffer(t, outage,
		func() { s.Do(t, "config", "set", "maxmemory", "1") },
		func() { s.Do(t, "config", "set", "maxmemory", "0") })
	f.requireRefused(t, o)
}

// TestScriptsAreForgotten: nobody notices, and nothing is charged twice.
func TestScriptsAreForgotten(t *testing.T) { //nolint:paralleltest // as above
	s := redistest.Start(t)
	f := serve(t, s.ClientOption())
	f.load(t, full)
	for range 30 {
		s.Do(t, "script", "flush")
		rest(50 * time.Millisecond)
	}
	f.stop()
	f.requireAdmitted(t, fault{}, 0)
	if !f.noise.calm() {
		t.Skip("the machine stood still, so checks timed out, which are failures")
	}
	require.Empty(t, f.errors)
	require.Zero(t, f.changes.Load())

	// One by one, so that it can be counted.
	for i := range 10 {
		s.Do(t, "script", "flush")
		w := f.ask(i%instances, "/data", "free", "once")
		require.Equal(t, 200, w.Code)
		require.Equal(t, strconv.Itoa(9-i), w.Header().Get("X-RateLimit-Remaining"))
	}
	require.Equal(t, 429, f.ask(0, "/data", "free", "once").Code)
}
