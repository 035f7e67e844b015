package denystore_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// flood is so many callers of one key at one price, all at once, again and again.
type flood struct {
	cached

	limits  []core.Limit
	callers int
	allowed atomic.Int64
}

func (f *flood) once(t *testing.T) {
	t.Helper()
	together(f.callers, func(int) {
		if charge(t, f, f.limits, 1).Allowed {
			f.allowed.Add(1)
		}
	})
}

// begin has everybody there before the first answer, so that all ask; what they
// were refused is known afterwards.
func (f *flood) begin(t *testing.T) {
	t.Helper()
	var all sync.WaitGroup
	all.Add(f.callers)
	f.next.before = func() {
		all.Done()
		all.Wait()
	}
	require.Equal(t, f.callers, f.asks(func() { f.once(t) }))
	f.next.before = nil
	require.LessOrEqual(t, f.asks(func() { f.once(t) }), 1, "what a charge has overtaken is asked for again, by one")
	require.Zero(t, f.asks(func() { f.once(t) }))
}

// TestAFloodCostsTheStoreOneCallAUnitAndOneASecond: whoever comes first when a
// unit fits takes it, and the others are refused as if it was taken already.
func TestAFloodCostsTheStoreOneCallAUnitAndOneASecond(t *testing.T) {
	t.Parallel()
	const seconds = 8
	for _, s := range []struct {
		quota core.Quota
		units int // that come back meanwhile
	}{
		{core.PerMinute(10), seconds / 6},
		{core.PerHour(100).WithBurst(5), 0},
		{core.PerSecond(2), 2 * seconds},
		{core.PerSecond(20), 20 * seconds},
		{core.PerSecond(20).WithBurst(1), 20 * seconds},
		{core.PerSecond(20).WithBurst(40).And(core.PerDay(50_000)), 20 * seconds},
		{core.PerSecond(20).And(core.PerHour(20)), 0},
	} {
		f := &flood{cached: newCached(), limits: s.quota.Limits(), callers: 64}
		f.begin(t)
		began := f.allowed.Load()
		asked := f.asks(func() {
			for range seconds * 100 {
				f.clock.Advance(10 * time.Millisecond)
				f.once(t)
			}
		})
		require.Equal(t, int64(s.units), f.allowed.Load()-began, s.quota.String())
		require.LessOrEqual(t, asked, s.units+seconds, s.quota.String())
		require.GreaterOrEqual(t, asked, max(s.units, seconds-1), "%s: a give-back elsewhere is seen", s.quota)
	}
}

// TestAFloodOfWindowsAsksWhenTheyEnd: many may fit at once then, so all ask.
func TestAFloodOfWindowsAsksWhenTheyEnd(t *testing.T) {
	t.Parallel()
	for _, quota := range []core.Quota{
		core.PerMinute(10).Using(core.FixedWindow),
		core.PerMinute(10).Using(core.SlidingLog),
		core.PerHour(600).And(core.PerMinute(10).Using(core.FixedWindow)),
	} {
		f := &flood{cached: newCached(), limits: quota.Limits(), callers: 64}
		f.begin(t)
		wait := charge(t, f, f.limits, 1)
		fits := max(wait.Levels[0].RetryAfter, wait.Levels[1].RetryAfter)
		seconds := int(fits / time.Second)
		require.Greater(t, seconds, 5)
		asked := f.asks(func() {
			for range 10*seconds - 1 {
				f.clock.Advance(100 * time.Millisecond)
				f.once(t)
			}
		})
		require.LessOrEqual(t, asked, seconds, quota.String())
		require.GreaterOrEqual(t, asked, seconds-1, quota.String())
		require.Equal(t, int64(10), f.allowed.Load())

		f.clock.Advance(fits)
		f.begin(t)
		require.Equal(t, int64(20), f.allowed.Load(), "nobody was refused for the others' sake")
	}
}

// TestAFloodOneByOneCostsTheStoreOneCallAUnitAndOneASecond: with nobody beside
// it, each unit that comes back is asked for once.
func TestAFloodOneByOneCostsTheStoreOneCallAUnitAndOneASecond(t *testing.T) {
	t.Parallel()
	c := newCached()
	c.exhaust(t, ten)
	allowed := 0
	asked := c.asks(func() {
		for range 60_000 {
			c.clock.Advance(time.Millisecond)
			if charge(t, c, ten, 1).Allowed {
				allowed++
			}
		}
	})
	require.Equal(t, 10, allowed)
	require.LessOrEqual(t, asked, 60)
}
