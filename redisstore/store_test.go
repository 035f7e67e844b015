package redisstore_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
	"github.com/tierlimit/tierlimit/storetest"
)

// opener gives stores with a prefix of their own, so that each is empty.
func (r anyRedis) opener() func(testing.TB, *fakeclock.Clock) core.Store {
	var opened atomic.Int64
	return func(_ testing.TB, c *fakeclock.Clock) core.Store {
		return r.store(redisstore.WithClock(c), redisstore.WithPrefix(fmt.Sprintf("t%d:", opened.Add(1))))
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r anyRedis) {
		t.Helper()
		storetest.Run(t, r.opener())
	})
}

func TestStoreOnACluster(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes 10 s")
	}
	storetest.Run(t, anyRedis{redistest.StartCluster(t).Client(t), true}.opener())
}

// The client may be one that speaks the older protocol, or has no ring.
func TestStoreOnOtherClients(t *testing.T) {
	t.Parallel()
	if testing.Short() || raceDetector {
		t.Skip("takes 10 s")
	}
	for name, change := range map[string]func(*rueidis.ClientOption){
		"RESP2": func(o *rueidis.ClientOption) { o.AlwaysRESP2 = true },
		"pool":  func(o *rueidis.ClientOption) { o.AlwaysPipelining, o.DisableAutoPipelining = false, true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, anyRedis{redistest.Start(t).Client(t, change), true}.opener())
		})
	}
}

// eon is so long that nothing runs out, and no fixed window ends, during a test.
const eon = 10_000 * time.Hour

// eonSets are all kinds of buckets.
func eonSets() map[string][]core.Limit {
	gcra, fixed, sliding := core.Per(10, eon), core.Per(7, eon).Using(core.FixedWindow), core.Per(8, eon).Using(core.SlidingLog)
	return map[string][]core.Limit{
		"lone":        gcra.Limits(),
		"two":         gcra.And(core.Per(9, 2*eon)).Limits(),
		"three":       core.Per(12, 3*eon).And(gcra).And(core.Per(9, 2*eon)).Limits(),
		"fixed":       fixed.Limits(),
		"log":         sliding.Limits(),
		"two logs":    sliding.And(core.Per(9, 2*eon).Using(core.SlidingLog)).Limits(),
		"gcra, fixed": gcra.And(fixed).Limits(),
		"all":         sliding.And(gcra).And(fixed).And(core.Per(9, 2*eon).Using(core.SlidingLog)).Limits(),
	}
}

// TestByTheServersClockItEqualsApply asks what needs no clock that is moved.
func TestByTheServersClockItEqualsApply(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r anyRedis) {
		t.Helper()
		s := r.store()
		random := rand.New(rand.NewPCG(1, 2))
		for name, limits := range eonSets() {
			for i := range 12 {
				state := &core.State{}
				key := core.Key{Tier: name, ID: strconv.Itoa(i), Anonymous: i%2 == 0}
				for range 25 {
					q := core.Request{Key: key, Limits: limits, Cost: random.IntN(6)}
					switch random.IntN(6) {
					case 0:
						q.Mode = core.Look
					case 1:
						q.Mode = core.Force
					case 2:
						q.Mode, q.Cost = core.Force, -q.Cost
					}
					want, got := core.Apply(state, r.now(t), q), take(t, s, q)
					sameBut(t, want, got, 10*time.Second, fmt.Sprintf("%s: %+v", name, q))
				}
			}
		}
	})
}

// now is the server's clock.
func (r anyRedis) now(tb testing.TB) time.Time {
	tb.Helper()
	parts, err := r.do(tb, "TIME").AsIntSlice()
	require.NoError(tb, err)
	return time.Unix(parts[0], parts[1]*1000)
}

// sameBut compares results whose moments were up to so long apart.
func sameBut(tb testing.TB, want, got core.Result, apart time.Duration, message string) {
	tb.Helper()
	require.Equal(tb, want.Allowed, got.Allowed, message)
	require.Equal(tb, want.Charged, got.Charged, message)
	for i := range want.Levels {
		require.Equal(tb, want.Levels[i].Remaining, got.Levels[i].Remaining, message)
		require.InDelta(tb, want.Levels[i].ResetAfter, got.Levels[i].ResetAfter, float64(apart), message)
		require.InDelta(tb, want.Levels[i].RetryAfter, got.Levels[i].RetryAfter, float64(apart), message)
		require.Equal(tb, want.Levels[i].RetryAfter > 0, got.Levels[i].RetryAfter > 0, message)
	}
}

func TestWrongWiringPanicsAtOnce(t *testing.T) {
	t.Parallel()
	for want, wire := range map[string]func(){
		"redisstore: New needs a client":                                 func() { redisstore.New(nil) },
		`redisstore: WithPrefix("{a}"), must hold no brace`:              func() { redisstore.WithPrefix("{a}") },
		"redisstore: WithKeySecret: the secret is empty":                 func() { redisstore.WithKeySecret(nil) },
		"redisstore: WithTimeout(0s), must be above 0":                   func() { redisstore.WithTimeout(0) },
		"redisstore: WithMaxInFlight(0), must be at least 1":             func() { redisstore.WithMaxInFlight(0) },
		"redisstore: WithBreaker(0, 1s), must be at least 1 and above 0": func() { redisstore.WithBreaker(0, time.Second) },
		"redisstore: WithBreaker(1, 0s), must be at least 1 and above 0": func() { redisstore.WithBreaker(1, 0) },
	} {
		require.PanicsWithValue(t, want, wire)
	}
	_, err := redisstore.Open(rueidis.ClientOption{})
	require.EqualError(t, err, "redisstore: Open needs an InitAddress")
}
