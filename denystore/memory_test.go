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

// TestTheRefusalThatIsNeededLeastMakesRoom: one that is asked about stays, also
// beside many that end later.
func TestTheRefusalThatIsNeededLeastMakesRoom(t *testing.T) {
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

// TestWhatNobodyAsksAboutMakesRoom: refusals of a day that are an hour old keep no
// newer ones out.
func TestWhatNobodyAsksAboutMakesRoom(t *testing.T) {
	t.Parallel()
	refuse := func(c cached, name string, n int, quota core.Quota) {
		for i := range n {
			take(t, c, core.Request{Key: core.Key{Tier: name, ID: strconv.Itoa(i)}, Limits: quota.Limits(), Cost: 1})
		}
	}
	hammer := func(c cached) int {
		refuse(c, "minute", 2000, core.PerMinute(1)) // the last there is
		return c.asks(func() {
			for range 5 {
				refuse(c, "minute", 2000, core.PerMinute(1))
			}
		})
	}
	fresh, old := newCached(denystore.WithMaxKeys(1<<12)), newCached(denystore.WithMaxKeys(1<<12))
	for range 2 {
		refuse(old, "day", 40_000, core.PerDay(1))
	}
	old.clock.Advance(time.Hour)
	// Each row of cells is its own, so how many share one is chance.
	require.InDelta(t, hammer(fresh), hammer(old), 400)
}

func TestAsManyAreKeptAsAreAllowed(t *testing.T) {
	t.Parallel()
	for n, most := range map[int]int{1: 4, 2: 4, 3: 4, 5: 8, 64: 64, 65: 128, 1000: 1024} {
		c := newCached(denystore.WithMaxKeys(n))
		c.next.Store = refusing{}
		key := func(i int) core.Request {
			return core.Request{Key: core.Key{ID: strconv.Itoa(i)}, Limits: core.PerHour(1).Limits(), Cost: 1}
		}
		for i := range 20 * most {
			take(t, c, key(i))
		}
		c.next.fail(errAway) // so that asking about one puts it into no other's place
		kept := 0
		for i := range 20 * most {
			if _, err := c.Take(t.Context(), key(i)); err == nil {
				kept++
			}
		}
		require.Equal(t, most, kept, "of %d", n)
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
}
