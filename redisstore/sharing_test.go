package redisstore_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/redisstore"
)

func TestInstancesShareTheLimit(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r anyRedis) {
		t.Helper()
		// Their own clocks are far apart, and do not matter.
		plans := core.Plans{Tiers: map[string]core.Quota{"free": core.PerMinute(10)}}
		one, err := core.New(r.store(), plans, core.WithClock(fakeclock.New(time.Now().Add(-15*time.Second))))
		require.NoError(t, err)
		two, err := core.New(r.store(), plans, core.WithClock(fakeclock.New(time.Now().Add(15*time.Second))))
		require.NoError(t, err)
		id := core.Identity{Key: "key_ana", Tier: "free"}
		statuses := map[int]int{}
		for i := range 20 {
			limiter := []*core.Limiter{one, two}[i%2]
			d := limiter.Take(t.Context(), id, 1)
			statuses[d.Status()]++
			require.Equal(t, i < 10, d.Allowed(), "ten in all, then no more")
			other := []*core.Limiter{two, one}[i%2].Peek(t.Context(), id, 1)
			require.InDelta(t, d.Level.ResetAfter, other.Level.ResetAfter, float64(time.Second))
		}
		require.Equal(t, map[int]int{200: 10, 429: 10}, statuses)
	})
}

func TestAtOnceExactlyTheBurstPasses(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r anyRedis) {
		t.Helper()
		var stores [4]*redisstore.Store
		for i := range stores {
			stores[i] = r.store()
		}
		for name, quota := range map[string]core.Quota{
			"lone":  core.Per(50, eon),
			"two":   core.Per(60, eon).And(core.Per(50, 2*eon)),
			"fixed": core.Per(50, eon).Using(core.FixedWindow),
			"log":   core.Per(50, eon).Using(core.SlidingLog),
			"mixed": core.Per(60, eon).Using(core.SlidingLog).And(core.Per(50, eon)),
		} {
			var admitted, failed atomic.Int64
			together(1000, func(i int) {
				res, err := stores[i%len(stores)].Take(t.Context(), core.Request{Key: core.Key{Tier: name}, Limits: quota.Limits(), Cost: 1})
				switch {
				case err != nil:
					failed.Add(1)
				case res.Allowed:
					admitted.Add(1)
				}
			})
			require.Zero(t, failed.Load(), name)
			require.EqualValues(t, 50, admitted.Load(), name)
		}
	})
}

func TestResetTouchesNoNeighbour(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r anyRedis) {
		t.Helper()
		s := r.store()
		for name, limits := range eonSets() {
			mine, plain := core.Key{Tier: name, ID: "ana"}, eonSets()["lone"]
			neighbours := []core.Key{
				{Tier: name, ID: "bob"}, {Tier: name + "2", ID: "ana"}, {Scope: "x", Tier: name, ID: "ana"}, {Tier: name, ID: "ana", Anonymous: true},
			}
			for _, key := range append(neighbours, mine) {
				charge(t, s, key, limits, 2)
				charge(t, s, key, plain, 1)
			}
			require.NoError(t, s.Reset(t.Context(), mine, limits))
			for _, of := range [][]core.Limit{limits, plain} {
				require.Equal(t, of[0].Burst, look(t, s, mine, of).Levels[0].Remaining, name)
				for _, key := range neighbours {
					require.Less(t, look(t, s, key, of).Levels[0].Remaining, of[0].Burst, name)
				}
			}
			require.True(t, charge(t, s, mine, limits, 7).Allowed, name)
			require.NoError(t, s.Reset(t.Context(), core.Key{ID: "nobody"}, limits))
		}
	})
}
