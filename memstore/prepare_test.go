package memstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/memstore"
)

// deaf is a store of somebody's own around ours: its Take is the one to ask.
type deaf struct {
	*memstore.Store

	asked int
}

func (d *deaf) Take(ctx context.Context, r core.Request) (core.Result, error) {
	d.asked++
	return d.Store.Take(ctx, r)
}

func TestATakeOfOnesOwnIsNotPassedOver(t *testing.T) {
	t.Parallel()
	own := &deaf{Store: memstore.New()}
	l, err := core.New(own, core.Plans{Tiers: map[string]core.Quota{"free": core.PerMinute(10)}, Default: "free"})
	require.NoError(t, err)
	for range 3 {
		require.True(t, l.Take(t.Context(), core.Identity{Key: "ana"}, 1).Allowed())
	}
	require.Equal(t, 3, own.asked)
}

func TestOnlyALoneGCRAWindowIsPrepared(t *testing.T) {
	t.Parallel()
	s, _ := open()
	limit := core.PerMinute(10).Limits()[0]
	require.NotNil(t, s.Prepare(s, "free", limit))
	for _, a := range []core.Algorithm{core.FixedWindow, core.SlidingLog} {
		other := limit
		other.Algorithm = a
		require.Nil(t, s.Prepare(s, "free", other))
	}
}

// Whatever the clock says, both ways are one.
func TestPreparedChargesUnderAnyClock(t *testing.T) {
	t.Parallel()
	limits := core.PerSecond(2).Limits()
	for _, year := range []int{-5000, 1, 1969, 1970, 2262, 3967, 5000, 9999} {
		short, shortClock := open()
		long, longClock := open()
		charge := short.Prepare(short, "pro", limits[0])
		for step := range 30 {
			now := time.Date(year, 7, 1, 0, 0, 0, step*170_000_000, time.UTC)
			if step == 20 {
				now = now.Add(-time.Hour) // the mend
			}
			shortClock.Set(now)
			longClock.Set(now)
			level, shown, allowed := charge("", user(1).ID, false, step%3)
			res, err := long.Take(t.Context(), core.Request{Key: user(1), Limits: limits, Cost: step % 3})
			require.NoError(t, err)
			require.Equal(t, res.Levels[0], level, "%d: %d", year, step)
			require.Equal(t, res.Now, shown)
			require.Equal(t, res.Allowed, allowed)
		}
	}
}

// A prepared charge and any other question meet the same bucket.
func TestPreparedChargesMeetTheSameBucket(t *testing.T) {
	t.Parallel()
	s, clock := open()
	limits := core.PerMinute(10).Limits()
	prepared := s.Prepare(s, "free", limits[0])
	level, now, allowed := prepared("api", "ana", false, 4)
	require.True(t, allowed)
	require.Equal(t, clock.Now(), now)
	require.Equal(t, core.Level{Remaining: 6, ResetAfter: 24 * time.Second}, level)
	res, err := s.Take(t.Context(), core.Request{Key: core.Key{Scope: "api", Tier: "free", ID: "ana"}, Limits: limits, Cost: 6})
	require.NoError(t, err)
	require.True(t, res.Allowed)
	level, _, allowed = prepared("api", "ana", false, 1)
	require.False(t, allowed)
	require.Equal(t, core.Level{ResetAfter: time.Minute, RetryAfter: 6 * time.Second}, level)
	require.Equal(t, 1, s.Len())
	_, _, allowed = prepared("", "ana", false, 1)
	require.True(t, allowed)
	_, _, allowed = prepared("api", "ana", true, 1)
	require.True(t, allowed)
	require.Equal(t, 3, s.Len())
}
