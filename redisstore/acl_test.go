package redisstore_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

func withoutLogs(t *testing.T) map[string][]core.Limit {
	t.Helper()
	sets := eonSets()
	for name, limits := range sets {
		if slices.ContainsFunc(limits, func(l core.Limit) bool { return l.Algorithm == core.SlidingLog }) {
			delete(sets, name)
		}
	}
	require.Len(t, sets, 5)
	return sets
}

func TestTheDocumentedRightsSuffice(t *testing.T) {
	t.Parallel()
	g := documented(t)
	for name, c := range map[string]struct {
		user redistest.Option
		sets map[string][]core.Limit
	}{
		"without logs": {g.option(), withoutLogs(t)},
		"with logs":    {g.option(g.logs), eonSets()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t, c.user)
			s := anyRedis{server.Client(t, g.as()), true}.store()
			require.NoError(t, s.Ready(t.Context()))
			do := func() {
				for _, limits := range c.sets {
					charge(t, s, user(1), limits, 2)
					charge(t, s, user(1), limits, 100)
					look(t, s, user(1), limits)
					force(t, s, user(1), limits, 3)
					force(t, s, user(1), limits, -4)
					require.NoError(t, s.Reset(t.Context(), user(1), limits))
					require.True(t, charge(t, s, user(1), limits, 7).Allowed)
				}
			}
			do()
			server.Do(t, "SCRIPT", "FLUSH")
			server.Do(t, "FLUSHALL")
			do()
			// Old entries leave, a log that is wrong is replaced, and one of the future is mended.
			if name == "with logs" {
				limits := c.sets["log"]
				key := s.RedisKey(user(1), limits)
				for _, spoil := range [][]any{{"ZADD", key, 0, "base", 3, "1", 5, "2"}, {"SET", key, "x"}, {"ZADD", key, 0, "base", 3, "4500000000000000"}} {
					server.Do(t, "DEL", key)
					server.Do(t, spoil...)
					force(t, s, user(1), limits, 1)
					force(t, s, user(1), limits, -1)
				}
			}
			log, ok := server.Do(t, "ACL", "LOG").([]any)
			require.True(t, ok)
			require.Empty(t, log)
		})
	}
}

// TestEveryMissingRightIsOneClearRefusal: never an error that lets all pass, and
// never one that is tried again and again.
func TestEveryMissingRightIsOneClearRefusal(t *testing.T) {
	t.Parallel()
	g := documented(t)
	all := slices.Concat(g.all, g.logs)
	for _, missing := range all {
		if missing == "+ping" {
			continue // a keep-alive that is refused is an answer too
		}
		t.Run(missing, func(t *testing.T) {
			t.Parallel()
			left := slices.DeleteFunc(slices.Clone(all), func(r string) bool { return r == missing })
			server := redistest.Start(t, g.under(g.pattern, left))
			s := redisstore.New(server.Client(t, g.as()), redisstore.WithBreaker(1, patient), redisstore.WithTimeout(patient))
			refused := 0
			for name, limits := range eonSets() {
				key := s.RedisKey(user(1), limits)
				for _, spoil := range [][]any{{"PING"}, {"SET", key, "x"}, {"ZADD", key, 0, "base", 3, "1", 5, "2"}, {"ZADD", key, 0, "base", 3, "4500000000000000"}} {
					server.Do(t, "FLUSHALL")
					server.Do(t, spoil...)
					for _, q := range []core.Request{{Cost: 1}, {Cost: 1, Mode: core.Look}, {Cost: 1, Mode: core.Force}, {Cost: -2, Mode: core.Force}} {
						q.Key, q.Limits = user(1), limits
						before := server.CommandStats(t)
						_, err := s.Take(t.Context(), q)
						after := server.CommandStats(t)
						for _, command := range []string{"evalsha", "eval"} {
							tried := after[command].Calls + after[command].Rejected - before[command].Calls - before[command].Rejected
							require.LessOrEqual(t, tried, int64(1), "%s: %s is tried once", name, command)
						}
						if err == nil {
							continue
						}
						refused++
						require.ErrorIs(t, err, redisstore.ErrRefused, name)
						text := err.Error()
						require.True(t, strings.Contains(text, "NOPERM") || strings.Contains(text, "can't run this command") || strings.Contains(text, "no permissions"), text)
					}
				}
			}
			require.Positive(t, refused)
			require.Equal(t, redisstore.StateClosed, s.State(), "Redis is there")
			if missing == "+get" || missing == "+time" || missing == "+evalsha" {
				for name, limits := range withoutLogs(t) {
					for range 50 {
						_, err := s.Take(t.Context(), core.Request{Key: user(2), Limits: limits, Cost: 1})
						require.ErrorIs(t, err, redisstore.ErrRefused, "%s: nobody passes unseen", name)
					}
				}
			}
		})
	}
}

func TestAnotherPrefixIsRefused(t *testing.T) {
	t.Parallel()
	g := documented(t)
	server := redistest.Start(t, g.option(g.logs))
	client := server.Client(t, g.as(), func(o *rueidis.ClientOption) { o.DisableRetry = true })
	s := redisstore.New(client, redisstore.WithPrefix("acme:"), redisstore.WithTimeout(patient))
	for _, limits := range eonSets() {
		_, err := s.Take(t.Context(), core.Request{Key: user(1), Limits: limits, Cost: 1})
		require.ErrorIs(t, err, redisstore.ErrRefused)
		require.ErrorIs(t, s.Reset(t.Context(), user(1), limits), redisstore.ErrRefused)
	}
}
