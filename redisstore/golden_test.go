package redisstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/redisstore"
)

// goldenKey is what services in the field call the bucket of key_ana.
const goldenKey = "trt:free:33d2315cbeb866b8b237240a98d605f2e6e41b8a"

func free(t *testing.T, s core.Store) *core.Limiter {
	t.Helper()
	limiter, err := core.New(s, core.Plans{Tiers: map[string]core.Quota{"free": core.PerMinute(10)}, Default: "free"}, core.OnStorageError(core.Deny(503)))
	require.NoError(t, err)
	return limiter
}

func TestTheKeyAndItsValueAreThoseOfTheField(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r anyRedis) {
		t.Helper()
		limiter, ana := free(t, r.store()), core.Identity{Key: "key_ana"}
		began := r.now(t)
		for i := range 10 {
			d := limiter.Take(t.Context(), ana, 1)
			require.True(t, d.Allowed())
			require.Equal(t, 9-i, d.Level.Remaining)
		}
		require.Equal(t, []any{goldenKey}, r.list(t, "KEYS", "*"))
		value, life := r.text(t, "GET", goldenKey), r.pttl(t, goldenKey)
		require.Regexp(t, `^\d{16}$`, value)
		require.InDelta(t, began.Add(time.Minute).UnixMicro(), number(t, value), 2e6, "the tat: when the bucket is full again")
		require.GreaterOrEqual(t, life, 58*time.Second)
		require.LessOrEqual(t, life, time.Minute)

		for range 200 {
			require.Equal(t, 429, limiter.Take(t.Context(), ana, 1).Status())
			limiter.Peek(t.Context(), ana, 1)
		}
		require.Equal(t, value, r.text(t, "GET", goldenKey), "refusals and looks write nothing")
		require.LessOrEqual(t, r.pttl(t, goldenKey), life)
	})
}

func TestATatOfAnotherServicesMakingIsHonoured(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r anyRedis) {
		t.Helper()
		limiter, ana := free(t, r.store()), core.Identity{Key: "key_ana"}
		tat := r.now(t).Add(30 * time.Second).UnixMicro()
		r.do(t, "SET", goldenKey, tat, "PX", 30_000)
		require.Equal(t, 4, limiter.Take(t.Context(), ana, 1).Level.Remaining, "half a minute of debt is five of ten, and one")
		require.Equal(t, digits(tat+6_000_000), r.text(t, "GET", goldenKey))
		require.Greater(t, r.pttl(t, goldenKey), 34*time.Second)

		r.do(t, "SET", goldenKey, r.now(t).Add(-time.Hour).UnixMicro())
		require.Equal(t, 9, limiter.Take(t.Context(), ana, 1).Level.Remaining, "a tat in the past is a full bucket")
		require.Positive(t, r.pttl(t, goldenKey), "and expires again")
	})
}

func TestRedisKeyTellsWhereABucketIs(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r anyRedis) {
		t.Helper()
		s := r.store(redisstore.WithPrefix("acme:rl:"), redisstore.WithKeySecret([]byte("pepper")))
		for _, key := range []core.Key{{Tier: "free", ID: "ana"}, {Scope: "login", Tier: "anon", ID: "10.0.0.1", Anonymous: true}} {
			for name, limits := range eonSets() {
				charge(t, s, key, limits, 1)
				at := s.RedisKey(key, limits)
				found := r.list(t, "KEYS", "*")
				require.NotEmpty(t, found, name)
				for _, name := range found {
					require.Contains(t, []any{at, at + ":1", at + ":2"}, name)
					r.do(t, "DEL", name)
				}
			}
		}
	})
}

// list is the reply to a command as a list.
func (r anyRedis) list(tb testing.TB, words ...any) []any {
	tb.Helper()
	message, err := r.do(tb, words...).ToAny()
	require.NoError(tb, err)
	list, ok := message.([]any)
	require.True(tb, ok)
	return list
}

func number(tb testing.TB, text string) int64 {
	tb.Helper()
	var n int64
	_, err := fmt.Sscan(text, &n)
	require.NoError(tb, err)
	return n
}
