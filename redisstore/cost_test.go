package redisstore_test

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// canned is a client that answers at once, always the same: what is left is
// what a check costs here.
type canned struct {
	rueidis.Client

	answer rueidis.RedisResult
}

func (c *canned) Do(context.Context, rueidis.Completed) rueidis.RedisResult { return c.answer }

// gcraSource is a script of the same kind, for calls without the store.
func gcraSource(tb testing.TB) string {
	tb.Helper()
	source, err := os.ReadFile("gcra.lua")
	require.NoError(tb, err)
	return string(source)
}

// bare is the same script call without the store.
func bare(tb testing.TB, client rueidis.Client) func() {
	tb.Helper()
	script := rueidis.NewLuaScript(gcraSource(tb))
	keys, args := []string{goldenKey}, []string{"6000000", "60000000"}
	ctx := context.Background() //nolint:usetesting // without a deadline
	return func() {
		if _, err := script.Exec(ctx, client, keys, args).ToInt64(); err != nil {
			tb.Error(err)
		}
	}
}

func taking(tb testing.TB, s core.Store, limits []core.Limit) func() {
	tb.Helper()
	q := core.Request{Key: core.Key{Tier: "free", ID: "key_ana"}, Limits: limits, Cost: 1}
	ctx := context.Background() //nolint:usetesting // as above
	return func() {
		if _, err := s.Take(ctx, q); err != nil {
			tb.Error(err)
		}
	}
}

func cannedClient(tb testing.TB) *canned {
	tb.Helper()
	r := mini(tb)
	script := rueidis.NewLuaScript(gcraSource(tb))
	return &canned{r.Client, script.Exec(context.Background(), r, []string{"x"}, []string{"1", "60000000"})} //nolint:usetesting // as above
}

func TestTheStoreItselfAllocatesNextToNothing(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts everybody's
	if raceDetector {
		t.Skip("the race detector allocates too")
	}
	client := cannedClient(t)
	s := redisstore.New(client, redisstore.WithTimeout(time.Hour))
	without := testing.AllocsPerRun(2000, bare(t, client))
	with := testing.AllocsPerRun(2000, taking(t, s, core.PerMinute(10).Limits()))
	t.Logf("%v allocations in all, %v without the store", with, without)
	require.LessOrEqual(t, with-without, 2.0)
}

func TestACheckAllocatesLittle(t *testing.T) { //nolint:paralleltest // as above
	if raceDetector {
		t.Skip("the race detector allocates too")
	}
	server := redistest.Start(t)
	s := redisstore.New(server.Client(t), redisstore.WithTimeout(time.Hour))
	for name, c := range map[string]struct {
		limits []core.Limit
		most   float64
	}{
		"allowed":     {plenty, 4},
		"refused":     {core.PerDay(1).Limits(), 4},
		"two windows": {endless()["two"], 8},
	} {
		ask := taking(t, s, c.limits)
		ask()
		n := testing.AllocsPerRun(2000, ask)
		t.Logf("%s: %v", name, n)
		require.LessOrEqual(t, n, c.most, name)
	}
}

// kinds are what servers are asked, never running out unless they say so.
func kinds() map[string][]core.Limit {
	window := 2 * time.Second
	return map[string][]core.Limit{
		"one":            plenty,
		"one, refused":   core.PerDay(1).Limits(),
		"two":            core.Per(1, time.Minute).WithBurst(1 << 26).And(core.Per(1, time.Hour).WithBurst(1 << 20)).Limits(),
		"two, refused":   core.PerHour(1).And(core.PerDay(50)).Limits(),
		"fixed":          core.Per(1<<26, eon).Using(core.FixedWindow).Limits(),
		"sliding 10":     core.Per(10, window).Using(core.SlidingLog).Limits(),
		"sliding 1000":   core.Per(1000, window).Using(core.SlidingLog).Limits(),
		"sliding 100000": core.Per(100_000, window).Using(core.SlidingLog).Limits(),
	}
}

// serverTime is what so many checks of one kind cost the server, each in µs.
func serverTime(tb testing.TB, server *redistest.Server, s core.Store, limits []core.Limit, checks int) float64 {
	tb.Helper()
	before := server.CommandStats(tb)
	together(32, func(worker int) {
		for i := worker; i < checks; i += 32 {
			if _, err := s.Take(tb.Context(), core.Request{Key: user(i % 16), Limits: limits, Cost: 1}); err != nil {
				tb.Error(err)
			}
		}
	})
	after := server.CommandStats(tb)
	calls, usec := int64(0), int64(0)
	for _, command := range []string{"evalsha", "eval"} {
		calls += after[command].Calls - before[command].Calls
		usec += after[command].Usec - before[command].Usec
	}
	return float64(usec) / float64(calls)
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// TestTheServerIsAskedLittle compares kinds of checks with one another, in turns.
func TestTheServerIsAskedLittle(t *testing.T) { //nolint:paralleltest // it measures time
	if testing.Short() || raceDetector {
		t.Skip("it measures time")
	}
	server := redistest.Start(t)
	s := anyRedis{server.Client(t), true}.store()
	ratios := map[string][]float64{}
	for range 11 {
		took := map[string]float64{}
		for name, limits := range kinds() {
			took[name] = serverTime(t, server, s, limits, 1500)
		}
		for name, of := range took {
			ratios[name] = append(ratios[name], of/took["one"])
		}
		ratios["sliding, long to short"] = append(ratios["sliding, long to short"], took["sliding 100000"]/took["sliding 10"])
	}
	for name, r := range ratios {
		t.Logf("%s: %.2f x", name, median(r))
	}
	require.LessOrEqual(t, median(ratios["two"]), 1.75)
	require.LessOrEqual(t, median(ratios["two, refused"]), 1.75)
	require.LessOrEqual(t, median(ratios["sliding, long to short"]), 3.0, "10,000 times the limit")
}
