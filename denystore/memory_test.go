package denystore_test

import (
	"context"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/denystore"
)

// refusing is a store that refuses everybody for an hour.
type refusing struct{ core.Store }

func (refusing) Take(context.Context, core.Request) (core.Result, error) {
	return core.Result{Levels: [core.MaxLimits]core.Level{{ResetAfter: time.Hour, RetryAfter: time.Hour}}}, nil
}

// TestAnyNumberOfRefusedKeysTakesBoundedMemory: new refusals take the place of old
// ones, and there is no goroutine.
func TestAnyNumberOfRefusedKeysTakesBoundedMemory(t *testing.T) { //nolint:paralleltest // it measures the heap
	goroutines, before := runtime.NumGoroutine(), heap()
	const kept = 1 << 12
	s := denystore.New(refusing{}, denystore.WithMaxKeys(kept))
	limits := core.PerHour(1).Limits()
	for i := range 300_000 {
		require.False(t, take(t, s, core.Request{Key: core.Key{Tier: "free", ID: strconv.Itoa(i)}, Limits: limits, Cost: 1}).Allowed)
	}
	per := float64(heap()-before) / kept
	t.Logf("%.0f bytes for each refusal kept", per)
	require.Less(t, per, 420.0)
	require.LessOrEqual(t, runtime.NumGoroutine(), goroutines)
	runtime.KeepAlive(s)
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestTheRefusalThatEndsFirstMakesRoom: the refusal that ends first
// makes room, so one that holds for an hour stays.
func TestTheRefusalThatEndsFirstMakesRoom(t *testing.T) {
	t.Parallel()
	c := newCached(denystore.WithMaxKeys(1)) // four, the least
	c.exhaust(t, core.PerHour(1).Limits())
	short := core.PerSecond(1).Limits()
	for i := range 100 {
		k := core.Key{ID: strconv.Itoa(i)}
		for range 2 {
			take(t, c, core.Request{Key: k, Limits: short, Cost: 1})
		}
		require.Zero(t, c.asks(func() { charge(t, c, core.PerHour(1).Limits(), 1) }))
	}
}

func TestOptionsThatMakeNoSensePanic(t *testing.T) {
	t.Parallel()
	require.Panics(t, func() { denystore.New(nil) })
	require.Panics(t, func() { denystore.WithMaxAge(0) })
	require.Panics(t, func() { denystore.WithMaxAge(-time.Second) })
	require.Panics(t, func() { denystore.WithMaxKeys(0) })
	require.Panics(t, func() { denystore.WithMaxKeys(1 << 30) })
	require.Panics(t, func() { denystore.WithClock(nil) })
	for _, n := range []int{1, 2, 3, 5, 1000} {
		s := denystore.New(refusing{}, denystore.WithMaxKeys(n))
		for i := range 100 {
			take(t, s, core.Request{Key: core.Key{ID: strconv.Itoa(i)}, Limits: ten, Cost: 1})
		}
	}
}
