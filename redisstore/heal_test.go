package redisstore_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// noNumbers are what somebody else, or a fault, may leave instead of a number.
var noNumbers = []string{"", " ", "nan", "inf", "-inf", "1e3", "0x10", "-5", "+5", " 12 ", "1.5", "99999999999999999999", "9007199254740992", "abc", "\x00\xff"}

// garbage are commands that spoil a key.
func garbage(key string, fields int) [][]any {
	spoil := [][]any{
		{"RPUSH", key, "a"},
		{"SADD", key, "a"},
		{"HSET", key, "a", "b"},
		{"ZADD", key, 1, "a"},
		{"ZADD", key, 1, "a", 2, "1700000000000000"},
		{"ZADD", key, 0, "base", 1, "abc"},
		{"ZADD", key, 5, "base"},
		{"ZADD", key, "-inf", "base", "inf", "1700000000000000"},
	}
	for _, text := range noNumbers {
		all := strings.TrimSuffix(strings.Repeat(text+" ", fields), " ")
		spoil = append(spoil, []any{"SET", key, text}, []any{"SET", key, all}, []any{"SET", key, text + ":" + text}, []any{"SET", key, all + " 1"})
	}
	return spoil
}

// logKeys are all keys of a set of windows: those that exist after a charge.
func (r anyRedis) keysAfterACharge(t *testing.T, s core.Store, limits []core.Limit) []string {
	t.Helper()
	r.do(t, "FLUSHALL")
	charge(t, s, user(1), limits, 1)
	var keys []string
	for _, key := range r.list(t, "KEYS", "*") {
		keys = append(keys, fmt.Sprint(key))
	}
	return keys
}

func TestAValueThatIsNoneCountsAsNoneAndHeals(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r anyRedis) {
		t.Helper()
		s := r.store()
		for name, limits := range eonSets() {
			for _, key := range r.keysAfterACharge(t, s, limits) {
				for _, spoil := range garbage(key, len(limits)) {
					r.heals(t, s, limits, spoil, fmt.Sprintf("%s: %q", name, spoil))
				}
			}
		}
	})
}

// heals spoils one key of a bucket, of which nothing else is there.
func (r anyRedis) heals(t *testing.T, s core.Store, limits []core.Limit, spoil []any, message string) {
	t.Helper()
	state := &core.State{}
	r.do(t, "FLUSHALL")
	r.do(t, spoil...)
	for _, q := range []core.Request{
		{Cost: 1, Mode: core.Look},
		{Cost: -2, Mode: core.Force},
		{Cost: 3, Mode: core.Force},
		{Cost: 2},
		{Cost: 100},
		{Cost: -1, Mode: core.Force},
		{Cost: 3},
	} {
		q.Key, q.Limits = user(1), limits
		want := core.Apply(state, r.now(t), q)
		got, err := s.Take(t.Context(), q)
		require.NoError(t, err, message)
		sameBut(t, want, got, 10*time.Second, message+fmt.Sprintf(", %v %d", q.Mode, q.Cost))
	}
	for _, key := range r.list(t, "KEYS", "*") {
		require.Positive(t, r.pttl(t, fmt.Sprint(key)), "%s: %s expires", message, key)
	}
}

// TestAStateOfTheFutureIsMendedByARefusal sets what a clock that was set back,
// or a plan that shrank, leaves behind.
func TestAStateOfTheFutureIsMendedByARefusal(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r anyRedis) {
		t.Helper()
		s := r.store()
		ten := core.PerMinute(10)
		ahead := func() time.Time { return r.now(t).Add(time.Hour) }
		for name, c := range map[string]struct {
			quota core.Quota
			spoil func(key string) [][]any
			life  time.Duration // of what is there afterwards, at most
		}{
			"lone": {ten, func(key string) [][]any {
				return [][]any{{"SET", key, ahead().UnixMicro(), "PX", 3_600_000}}
			}, time.Minute},
			"two": {ten.And(core.PerHour(1000)), func(key string) [][]any {
				return [][]any{{"SET", key, fmt.Sprint(ahead().UnixMicro(), " ", r.now(t).UnixMicro()), "PX", 3_600_000}}
			}, time.Minute},
			"gcra, fixed": {ten.And(core.PerMinute(100).Using(core.FixedWindow)), func(key string) [][]any {
				return [][]any{{"SET", key, fmt.Sprint(ahead().UnixMicro(), " 0:0"), "PX", 3_600_000}}
			}, time.Minute},
			"fixed": {core.PerMinute(10).Using(core.FixedWindow), func(key string) [][]any {
				return [][]any{{"SET", key, fmt.Sprint(ahead().Truncate(time.Minute).UnixMicro(), ":10"), "PX", 3_600_000}}
			}, time.Minute},
			"log": {core.PerMinute(10).Using(core.SlidingLog), func(key string) [][]any {
				return [][]any{{"ZADD", key, 0, "base", 10, ahead().UnixMicro()}, {"PEXPIRE", key, 3_600_000}}
			}, time.Minute},
		} {
			limits := c.quota.Limits()
			key := s.RedisKey(user(1), limits)
			r.do(t, "FLUSHALL")
			for _, spoil := range c.spoil(key) {
				r.do(t, spoil...)
			}
			value := r.dump(t, key)
			looked := look(t, s, user(1), limits)
			require.Equal(t, value, r.dump(t, key), "%s: a look writes nothing, not even the mend", name)
			refused := charge(t, s, user(1), limits, 1)
			for _, res := range []core.Result{looked, refused} {
				require.False(t, res.Allowed, name)
				require.Positive(t, res.Levels[0].RetryAfter, name)
				require.LessOrEqual(t, res.Levels[0].ResetAfter, time.Minute, name)
			}
			require.NotEqual(t, value, r.dump(t, key), "%s: the refusal writes the mend", name)
			require.Positive(t, r.pttl(t, key), name)
			require.LessOrEqual(t, r.pttl(t, key), c.life, name)

			value = r.dump(t, key)
			again := charge(t, s, user(1), limits, 1)
			require.Equal(t, value, r.dump(t, key), "%s: and only once", name)
			require.LessOrEqual(t, again.Levels[0].RetryAfter, refused.Levels[0].RetryAfter, "%s: the wait goes on", name)
		}
	})
}

// dump is what a key holds.
func (r anyRedis) dump(t *testing.T, key string) string {
	t.Helper()
	if r.text(t, "TYPE", key) == "zset" { // which is a list of pairs or not, as the Redis likes
		return strings.NewReplacer("[[", "[", "]]", "]", "] [", " ").Replace(r.text(t, "ZRANGE", key, 0, -1, "WITHSCORES"))
	}
	return r.text(t, "GET", key)
}
