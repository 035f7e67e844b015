package redisstore_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
)

// ofConnections are commands that begin one or keep it alive, and the look at
// the counts itself.
var ofConnections = map[string]bool{"hello": true, "client|setinfo": true, "client|setname": true, "select": true, "ping": true, "info": true}

// TestRoundTripsAndCommandsOfACheck: one script call each, and in it no command
// more than it takes. What a check costs grows with nothing else.
func TestRoundTripsAndCommandsOfACheck(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := anyRedis{server.Client(t), true}.store()
	one := core.Per(5, time.Hour)
	for name, c := range map[string]struct {
		limits []core.Limit
		mode   core.Mode
		cost   int
		spent  int // before
		want   map[string]int64
	}{
		"lone, allowed":  {one.Limits(), core.Charge, 1, 0, map[string]int64{"evalsha": 1, "time": 1, "get": 1, "set": 1}},
		"lone, refused":  {one.Limits(), core.Charge, 1, 5, map[string]int64{"evalsha": 1, "time": 1, "get": 1}},
		"lone, look":     {one.Limits(), core.Look, 1, 2, map[string]int64{"evalsha": 1, "time": 1, "get": 1}},
		"lone, back":     {one.Limits(), core.Force, -1, 2, map[string]int64{"evalsha": 1, "time": 1, "get": 1, "set": 1}},
		"two, allowed":   {one.And(core.PerDay(9)).Limits(), core.Charge, 1, 0, map[string]int64{"evalsha": 1, "time": 1, "get": 1, "set": 1}},
		"two, refused":   {one.And(core.PerDay(9)).Limits(), core.Charge, 1, 5, map[string]int64{"evalsha": 1, "time": 1, "get": 1}},
		"fixed, allowed": {one.Using(core.FixedWindow).Limits(), core.Charge, 1, 0, map[string]int64{"evalsha": 1, "time": 1, "get": 1, "set": 1}},
		"log, allowed":   {one.Using(core.SlidingLog).Limits(), core.Charge, 1, 0, map[string]int64{"evalsha": 1, "time": 1, "zrange": 1, "zadd": 2, "pexpire": 1}},
		"log, refused": {
			one.Using(core.SlidingLog).Limits(), core.Charge, 1, 5,
			map[string]int64{"evalsha": 1, "time": 1, "zrange": 3, "zcard": 1, "zrangebyscore": 1},
		},
	} {
		key := core.Key{Tier: "t", ID: name}
		if c.spent > 0 {
			charge(t, s, key, c.limits, c.spent)
		}
		other := core.Key{Tier: "t", ID: name + ", so that the script is known"}
		take(t, s, core.Request{Key: other, Limits: c.limits, Cost: c.cost, Mode: c.mode})
		before := server.CommandStats(t)
		take(t, s, core.Request{Key: key, Limits: c.limits, Cost: c.cost, Mode: c.mode})
		got := map[string]int64{}
		for command, after := range server.CommandStats(t) {
			if n := after.Calls - before[command].Calls; n > 0 && !ofConnections[command] {
				got[command] = n
			}
		}
		require.Equal(t, c.want, got, name)
	}
}

// TestAHotBucketCostsFewCalls: 64 who ask at once for one bucket wait for two
// or three calls, not for 64.
func TestAHotBucketCostsFewCalls(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := anyRedis{server.Client(t), true}.store()
	const workers, each, limit = 64, 50, 1000
	limits := core.Per(limit, 30*24*time.Hour).Limits()
	charge(t, s, user(1), limits, 1)
	before := server.CommandStats(t)["evalsha"].Calls
	var allowed atomic.Int64
	together(workers, func(int) {
		for range each {
			if charge(t, s, user(1), limits, 1).Allowed {
				allowed.Add(1)
			}
		}
	})
	require.EqualValues(t, limit-1, allowed.Load())
	calls := server.CommandStats(t)["evalsha"].Calls - before
	t.Logf("%d checks, %d calls", workers*each, calls)
	require.Less(t, calls, int64(workers*each/4))
}
