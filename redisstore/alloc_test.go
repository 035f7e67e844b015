package redisstore_test

import (
	"context"
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

// plain is the script call of a kind of check, without the store.
type plain struct {
	script string // its file
	args   []string
	read   func(rueidis.RedisResult) error
}

// plains are by how many GCRA windows they charge.
var plains = map[int]plain{
	1: {"gcra.lua", []string{"6000000", "60000000"}, func(r rueidis.RedisResult) error { _, err := r.ToInt64(); return err }},
	2: {"gcra2.lua", []string{"6000000", "6000000", "60000000", "60000000"}, func(r rueidis.RedisResult) error { _, err := r.AsIntSlice(); return err }},
}

func (p plain) exec(tb testing.TB, client rueidis.Client) func() rueidis.RedisResult {
	tb.Helper()
	script, keys := rueidis.NewLuaScript(document(tb, p.script)), []string{goldenKey}
	ctx := context.Background() //nolint:usetesting // without a deadline
	return func() rueidis.RedisResult { return script.Exec(ctx, client, keys, p.args) }
}

// bare is the same script call without the store.
func (p plain) bare(tb testing.TB, client rueidis.Client) func() {
	tb.Helper()
	exec := p.exec(tb, client)
	return func() {
		if err := p.read(exec()); err != nil {
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

// canned is a client that gives the answer of a real call.
func (p plain) canned(tb testing.TB) *canned {
	tb.Helper()
	r := mini(tb)
	return &canned{r.Client, p.exec(tb, r)()}
}

// fewest is how many allocations a call makes while nothing else does: a
// collection empties the client's pools, and others run beside.
func fewest(call func()) float64 {
	least := testing.AllocsPerRun(500, call)
	for range 4 {
		least = min(least, testing.AllocsPerRun(500, call))
	}
	return least
}

func TestTheStoreItselfAllocatesNextToNothing(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts everybody's
	if raceDetector {
		t.Skip("the race detector allocates too")
	}
	for windows, quota := range map[int]core.Quota{
		1: core.PerMinute(10),
		2: core.PerMinute(10).And(core.PerHour(600).WithBurst(10)),
	} {
		p := plains[windows]
		client := p.canned(t)
		s := redisstore.New(client, redisstore.WithTimeout(time.Hour))
		without := fewest(p.bare(t, client))
		with := fewest(taking(t, s, quota.Limits()))
		t.Logf("%d windows: %v allocations in all, %v without the store", windows, with, without)
		require.LessOrEqual(t, with-without, 2.0)
	}
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
		"two windows": {endless()["two"], 5},
	} {
		ask := taking(t, s, c.limits)
		ask()
		n := fewest(ask)
		t.Logf("%s: %v", name, n)
		require.LessOrEqual(t, n, c.most, name)
	}
}
