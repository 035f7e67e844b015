package redisstore_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// kind is a kind of check that servers are asked for.
type kind struct {
	limits []core.Limit
	// logged is how many entries the sliding log has, of which none leaves.
	logged int
}

// kinds are never used up unless they say so.
func kinds() map[string]kind {
	log := func(count int) []core.Limit { return core.Per(count, eon).Using(core.SlidingLog).Limits() }
	return map[string]kind{
		"one":                    {plenty, 0},
		"one, refused":           {core.PerDay(1).Limits(), 0},
		"two":                    {core.Per(1, time.Minute).WithBurst(1 << 26).And(core.Per(1, time.Hour).WithBurst(1 << 20)).Limits(), 0},
		"two, refused":           {core.PerHour(1).And(core.PerDay(50)).Limits(), 0},
		"fixed":                  {core.Per(1<<26, eon).Using(core.FixedWindow).Limits(), 0},
		"short log":              {log(1 << 26), 10},
		"long log":               {log(1 << 26), 100_000},
		"short log, all refused": {log(10), 10},
		"long log, all refused":  {log(100_000), 100_000},
	}
}

// asker sends a server checks of one kind, in buckets of their own.
type asker struct {
	server *redistest.Server
	store  *redisstore.Store
	name   string
	kind   kind
}

const askers = 32

// key is a bucket for each worker, so that none waits for another; but one log
// is long enough.
func (a *asker) key(worker int) core.Key {
	if a.kind.logged > 0 {
		worker = 0
	}
	return core.Key{Tier: a.name, ID: strconv.Itoa(worker)}
}

// fill makes the log as long as its kind says, an entry a microsecond.
func (a *asker) fill(tb testing.TB) {
	tb.Helper()
	if a.kind.logged == 0 {
		return
	}
	key := a.store.RedisKey(a.key(0), a.kind.limits)
	a.server.Do(tb, "DEL", key)
	a.server.Do(tb, "EVAL", `
		local time = redis.call('TIME')
		local first = time[1] * 1000000 + time[2] - ARGV[1]
		redis.call('ZADD', KEYS[1], 0, 'base')
		for i = 1, ARGV[1] do
			redis.call('ZADD', KEYS[1], i, string.format('%.0f', first + i))
		end`, 1, key, a.kind.logged)
	left := look(tb, a.store, a.key(0), a.kind.limits).Levels[0].Remaining
	require.Equal(tb, a.kind.limits[0].Count-a.kind.logged, left, "%s: the store reads the log", a.name)
}

// cost is what so many checks cost the server, each in µs.
func (a *asker) cost(tb testing.TB, checks int) float64 {
	tb.Helper()
	before := a.server.CommandStats(tb)
	together(askers, func(worker int) {
		for i := worker; i < checks; i += askers {
			if _, err := a.store.Take(tb.Context(), core.Request{Key: a.key(worker), Limits: a.kind.limits, Cost: 1}); err != nil {
				tb.Error(err)
			}
		}
	})
	after := a.server.CommandStats(tb)
	usec := int64(0)
	for _, command := range []string{"evalsha", "eval"} {
		usec += after[command].Usec - before[command].Usec
	}
	return float64(usec) / float64(checks)
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
	of := map[string]*asker{}
	for name, kind := range kinds() {
		of[name] = &asker{server, s, name, kind}
		of[name].fill(t)
	}
	const refused = ", all refused"
	ratios := map[string][]float64{}
	for range 11 {
		of["short log"].fill(t) // the round before made it longer
		took := map[string]float64{}
		for name, a := range of {
			took[name] = a.cost(t, 1000)
		}
		for name, cost := range took {
			ratios[name] = append(ratios[name], cost/took["one"])
		}
		for _, how := range []string{"", refused} {
			ratios["long to short"+how] = append(ratios["long to short"+how], took["long log"+how]/took["short log"+how])
		}
	}
	for name, r := range ratios {
		t.Logf("%s: %.2f x", name, median(r))
	}
	require.LessOrEqual(t, median(ratios["two"]), 1.75)
	require.LessOrEqual(t, median(ratios["two, refused"]), 1.75)
	require.LessOrEqual(t, median(ratios["long to short"]), 3.0, "a log of 100,000 beside one of 10 to 1,010")
	require.LessOrEqual(t, median(ratios["long to short"+refused]), 3.0, "10,000 times the entries")
}
