package redisstore_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

const secretID = "sk_live_abc"

// everything does all that a store can do for one key.
func everything(tb testing.TB, s core.Store, key core.Key) {
	tb.Helper()
	for _, limits := range eonSets() {
		charge(tb, s, key, limits, 2)
		charge(tb, s, key, limits, 100)
		look(tb, s, key, limits)
		force(tb, s, key, limits, 3)
		force(tb, s, key, limits, -4)
		require.NoError(tb, s.Reset(tb.Context(), key, limits))
		require.True(tb, charge(tb, s, key, limits, 7).Allowed, "all was given back")
	}
}

// keyOf is the key that a command names; "" for one without.
func keysOf(c redistest.Command) []string {
	switch strings.ToLower(c.Words[0]) {
	case "hello", "client", "ping", "time", "script", "info", "config", "command", "cluster", "readonly", "echo", "asking":
		return nil
	case "eval", "evalsha":
		return c.Words[3 : 3+int(c.Words[2][0]-'0')]
	default:
		return c.Words[1:2]
	}
}

func TestEveryKeyBeginsWithThePrefixAndNoIDIsSeen(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	client := server.Client(t)
	monitor := server.Monitor(t)
	s := anyRedis{client, true}.store(redisstore.WithPrefix("acme:rl:"))
	everything(t, s, core.Key{Scope: "login", Tier: "free", ID: secretID})
	everything(t, s, core.Key{Tier: "anon", ID: secretID, Anonymous: true})
	seen := monitor.Stop(t)
	require.Greater(t, len(seen), 200)
	for _, c := range seen {
		require.NotContains(t, strings.Join(c.Words, " "), secretID)
		for _, key := range keysOf(c) {
			require.True(t, strings.HasPrefix(key, "acme:rl:"), "%q", c.Words)
		}
	}
	require.NotContains(t, strings.Join(server.Keys(t, "*"), " "), secretID)
}

// TestScriptsTouchDeclaredKeysOnly is what a Cluster wants of them.
func TestScriptsTouchDeclaredKeysOnly(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	client := server.Client(t)
	monitor := server.Monitor(t)
	everything(t, anyRedis{client, true}.store(), user(1))
	requireDeclared(t, monitor.Stop(t))
}

// requireDeclared checks what a server executed.
func requireDeclared(t *testing.T, seen []redistest.Command) {
	t.Helper()
	var declared []string
	scripts := 0
	for _, c := range seen {
		keys := keysOf(c)
		if c.Client != "lua" {
			declared = keys
			continue
		}
		scripts++
		for _, key := range keys {
			require.Contains(t, declared, key, "%q", c.Words)
		}
	}
	require.Positive(t, scripts)
}

func TestErrorsNameNobody(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.WithPassword("hunter2"), redistest.WithUser("blind", "on", ">hunter3", "~trt:*", "+evalsha", "+eval"))
	proxy := redistest.NewProxy(t, server.Addr())
	var errs []error
	note := func(s core.Store) {
		for _, limits := range eonSets() {
			key := core.Key{Tier: "free", ID: secretID}
			_, err := s.Take(t.Context(), core.Request{Key: key, Limits: limits, Cost: 1})
			errs = append(errs, err, s.Reset(t.Context(), key, limits))
		}
	}
	note(redisstore.New(server.Client(t, redistest.As("blind", "hunter3"))))
	through := redisstore.New(server.Client(t, redistest.Through(proxy)))
	proxy.BlackHole(true)
	note(through)
	wrong := server.ClientOption()
	wrong.Password = "guess123"
	closed, err := redisstore.Open(wrong)
	require.NoError(t, err)
	redistest.Wait(t, patient, "the password to be refused", func() error {
		if err := ask(closed); strings.Contains(err.Error(), "WRONGPASS") {
			return nil
		}
		return ask(closed)
	})
	note(closed)
	closed.Close()
	note(closed)
	for _, err := range errs {
		require.Error(t, err)
		for _, secret := range []string{secretID, "hunter", "guess123"} {
			require.NotContains(t, err.Error(), secret)
		}
	}
}

func TestWhatNeedsNoBucketSendsRedisNothing(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := anyRedis{server.Client(t), true}.store()
	limiter, err := core.New(s, core.Plans{
		Tiers: map[string]core.Quota{
			"free":       core.PerMinute(10),
			"pro":        core.PerSecond(20).WithBurst(40).And(core.PerDay(30).Using(core.FixedWindow)),
			"enterprise": core.Unlimited(),
			"banned":     core.Blocked(),
		},
		Default: "free",
	}, core.OnMissing(core.Deny(401)))
	require.NoError(t, err)
	monitor := server.Monitor(t)
	ctx := t.Context()
	for tier, c := range map[string]struct {
		cost   int
		want   core.Outcome
		status int
	}{
		"free":       {11, core.CostExceedsLimit, 403},
		"pro":        {31, core.CostExceedsLimit, 403},
		"enterprise": {1 << 30, core.AllowedUnlimited, 200},
		"banned":     {1, core.TierBlocked, 403},
	} {
		for range 3 { // from the first on
			for _, d := range []core.Decision{
				limiter.Take(ctx, core.Identity{Key: "ana", Tier: tier}, c.cost),
				limiter.Peek(ctx, core.Identity{Key: "ana", Tier: tier}, c.cost),
			} {
				require.Equal(t, c.want, d.Outcome, tier)
				require.Equal(t, c.status, d.Status(), tier)
				require.Equal(t, tier == "enterprise", d.Allowed(), tier)
			}
		}
	}
	require.Equal(t, 401, limiter.Take(ctx, core.Identity{}, 1).Status())
	require.Equal(t, core.InvalidCost, limiter.Take(ctx, core.Identity{Key: "ana"}, -1).Outcome)
	seen := slices.DeleteFunc(monitor.Stop(t), func(c redistest.Command) bool { return strings.EqualFold(c.Words[0], "ping") })
	require.Empty(t, seen)
}
