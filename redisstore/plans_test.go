package redisstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/redisstore"
)

func TestANewPlanHoldsFromTheNextCheckOnAllInstances(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r anyRedis) {
		t.Helper()
		plans := func(q core.Quota) core.Plans {
			return core.Plans{Tiers: map[string]core.Quota{"free": q}, Default: "free"}
		}
		one, err := core.New(r.store(), plans(core.PerHour(100)))
		require.NoError(t, err)
		two, err := core.New(r.store(), plans(core.PerHour(100)))
		require.NoError(t, err)
		ana := core.Identity{Key: "ana"}
		for range 60 {
			require.NoError(t, one.Take(t.Context(), ana, 1).Err)
		}
		for _, limiter := range []*core.Limiter{one, two} {
			require.NoError(t, limiter.SetPlans(plans(core.PerSecond(10).And(core.PerDay(1000)))))
		}
		left := 1000
		for range 5 {
			for _, limiter := range []*core.Limiter{one, two} {
				left--
				d := limiter.Take(t.Context(), ana, 1)
				require.NoError(t, d.Err)
				require.Equal(t, core.Allowed, d.Outcome)
				for limit, level := range d.All() {
					if limit.Window == 24*time.Hour {
						require.Equal(t, left, level.Remaining, "the new set, from the first check on, on all instances")
					}
				}
			}
		}
		for _, key := range r.list(t, "KEYS", "*") {
			require.Positive(t, r.pttl(t, key.(string)), "the old key expires by itself")
		}

		// Back to one window, of another length: the plain bucket with its debt.
		require.NoError(t, two.SetPlans(plans(core.PerDay(100))))
		d := two.Take(t.Context(), ana, 1)
		require.Equal(t, core.Allowed, d.Outcome)
		require.Equal(t, 100-1-3, d.Level.Remaining, "60 of 100 an hour is 36 minutes of debt, under three of 100 a day")
	})
}

func TestAChangedCountKeepsWhatWasSpent(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r anyRedis) {
		t.Helper()
		s := r.store()
		for name, a := range map[string]core.Algorithm{"fixed": core.FixedWindow, "log": core.SlidingLog} {
			key := core.Key{Tier: name}
			charge(t, s, key, core.Per(10, eon).Using(a).Limits(), 6)
			require.Equal(t, 14, look(t, s, key, core.Per(20, eon).Using(a).Limits()).Levels[0].Remaining, name)
			require.Zero(t, look(t, s, key, core.Per(4, eon).Using(a).Limits()).Levels[0].Remaining, name)
			require.False(t, charge(t, s, key, core.Per(4, eon).Using(a).Limits(), 1).Allowed, name)
			require.Equal(t, 3, charge(t, s, key, core.Per(10, eon).Using(a).Limits(), 1).Levels[0].Remaining, name)
		}
	})
}

// TestLimitersWithScopesDoNotMeet: a monthly quota and an hourly limit of one
// user have a key each, each with its own expiry.
func TestLimitersWithScopesDoNotMeet(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r anyRedis) {
		t.Helper()
		store := r.store()
		limiter := func(scope string, q core.Quota) *core.Limiter {
			l, err := core.New(store, core.Plans{Tiers: map[string]core.Quota{"free": q}, Default: "free"}, core.WithScope(scope))
			require.NoError(t, err)
			return l
		}
		a, b := limiter("a", core.PerHour(10)), limiter("b", core.PerMinute(5))
		again := limiter("a", core.PerHour(10))
		ana := core.Identity{Key: "ana"}
		for range 3 {
			a.Take(t.Context(), ana, 1)
		}
		require.Equal(t, 5, b.Peek(t.Context(), ana, 1).Level.Remaining)
		require.Equal(t, 4, b.Take(t.Context(), ana, 1).Level.Remaining)
		require.Equal(t, 6, again.Take(t.Context(), ana, 1).Level.Remaining, "sharing on purpose: the same scope")
		keys := r.list(t, "KEYS", "*")
		require.Len(t, keys, 2)
		life := map[string]time.Duration{}
		for _, scope := range []string{"a", "b"} {
			limits := core.PerHour(10).Limits()
			life[scope] = r.pttl(t, store.RedisKey(core.Key{Scope: scope, Tier: "free", ID: "ana"}, limits))
		}
		require.Greater(t, life["a"], 20*time.Minute)
		require.LessOrEqual(t, life["b"], 12*time.Second)
	})
}

// TestARefusalByOneWindowChargesNone sends 31 checks at one instant.
func TestARefusalByOneWindowChargesNone(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r anyRedis) {
		t.Helper()
		second, day := core.Per(10, eon), core.Per(1000, 2*eon)
		for name, quota := range map[string]core.Quota{
			"gcra":          second.And(day),
			"turned":        day.And(second),
			"fixed":         second.Using(core.FixedWindow).And(day.Using(core.FixedWindow)),
			"log and gcra":  second.Using(core.SlidingLog).And(day),
			"gcra and log":  second.And(day.Using(core.SlidingLog)),
			"three windows": core.Per(100, 3*eon).And(second).And(day),
		} {
			s := r.store(redisstore.WithPrefix(name + ":"))
			limits := quota.Limits()
			admitted := 0
			for range 31 {
				if charge(t, s, user(1), limits, 1).Allowed {
					admitted++
				}
			}
			require.Equal(t, 10, admitted, name)
			left := look(t, s, user(1), limits)
			for i := range limits {
				require.Equal(t, limits[i].Burst-10, left.Levels[i].Remaining, name)
			}
		}
	})
}

// TestAUserAndHisTenantAreChargedBothOrNeither by two limiters on one store, in
// turn: what one lets pass and the other refuses is given back.
func TestAUserAndHisTenantAreChargedBothOrNeither(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r anyRedis) {
		t.Helper()
		s := r.store()
		plans := core.Plans{Tiers: map[string]core.Quota{
			"user":   core.Per(10, eon),
			"tenant": core.Per(15, eon).And(core.Per(1000, 2*eon)),
		}}
		limiter, err := core.New(s, plans)
		require.NoError(t, err)
		acme := core.Identity{Key: "acme", Tier: "tenant"}
		take := func(name string) bool {
			own := limiter.Take(t.Context(), core.Identity{Key: name, Tier: "user"}, 1)
			require.NoError(t, own.Err)
			if !own.Allowed() {
				return false
			}
			all := limiter.Take(t.Context(), acme, 1)
			require.NoError(t, all.Err)
			if !all.Allowed() {
				require.NoError(t, own.Refund(t.Context()).Err)
			}
			return all.Allowed()
		}
		spent := map[string]int{}
		for i := range 31 {
			name := []string{"ana", "bea"}[i/20]
			if take(name) {
				spent[name]++
			}
		}
		require.Equal(t, map[string]int{"ana": 10, "bea": 5}, spent)
		left := func(id core.Identity) int { return limiter.Peek(t.Context(), id, 1).Level.Remaining }
		require.Zero(t, left(core.Identity{Key: "ana", Tier: "user"}))
		require.Equal(t, 5, left(core.Identity{Key: "bea", Tier: "user"}), "what the tenant refused is not charged")
		require.Zero(t, left(acme))
		for limit, level := range limiter.Peek(t.Context(), acme, 1).All() {
			if limit.Count == 1000 {
				require.Equal(t, 985, level.Remaining, "what the user was refused does not drain the tenant")
			}
		}
	})
}
