package httplimit_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
)

func TestDraftListsEveryWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		decision      core.Decision
		policy, state string
	}{
		{
			"allowed", allowed(t, core.PerMinute(10)),
			`"free";q=10;w=60`, `"free";r=9;t=6`,
		},
		{
			"refused", refused(t, core.PerMinute(10)),
			`"free";q=10;w=60`, `"free";r=0;t=6`,
		},
		{
			"a burst comes back in T times burst", allowed(t, core.PerSecond(20).WithBurst(50)),
			`"free";q=50;w=3`, `"free";r=49;t=1`,
		},
		{
			"no window is less than a second", allowed(t, core.Per(5, 100*time.Millisecond)),
			`"free";q=5;w=1`, `"free";r=4;t=1`,
		},
		{
			"T is rounded up", allowed(t, core.Per(3, time.Second)), // T is 333,334 µs
			`"free";q=3;w=2`, `"free";r=2;t=1`,
		},
		{
			"fixed", allowed(t, core.PerMinute(10).Using(core.FixedWindow)),
			`"free";q=10;w=60`, `"free";r=9;t=46`,
		},
		{
			"sliding", allowed(t, core.PerMinute(10).Using(core.SlidingLog)),
			`"free";q=10;w=60`, `"free";r=9;t=60`,
		},
		{
			"three windows", allowed(t, core.PerSecond(20).WithBurst(40).And(core.PerHour(100).Using(core.FixedWindow)).And(core.PerDay(1000).Using(core.SlidingLog))),
			`"free-1s";q=40;w=2, "free-1h-fixed";q=100;w=3600, "free-24h-sliding";q=1000;w=86400`,
			`"free-1s";r=39;t=1, "free-1h-fixed";r=99;t=2506, "free-24h-sliding";r=999;t=86400`,
		},
		{
			"one window of two has room", refused(t, core.PerMinute(2).And(core.PerDay(100))),
			`"free-1m";q=2;w=60, "free-24h";q=100;w=86400`,
			`"free-1m";r=0;t=30, "free-24h";r=98`,
		},
		{
			"one window in two algorithms", allowed(t, core.PerMinute(5).And(core.PerMinute(9).Using(core.FixedWindow)).And(core.PerMinute(7).Using(core.SlidingLog))),
			`"free-1m";q=5;w=60, "free-1m-fixed";q=9;w=60, "free-1m-sliding";q=7;w=60`,
			`"free-1m";r=4;t=12, "free-1m-fixed";r=8;t=46, "free-1m-sliding";r=6;t=60`,
		},
	} {
		got := written(httplimit.Draft, c.decision)
		require.Equal(t, map[string]string{"Ratelimit-Policy": c.policy, "Ratelimit": c.state}, got, c.name)
		requireFields(t, got)
	}
}

// requireFields asserts that both fields are lists of strings with the
// parameters that the draft gives them.
func requireFields(t *testing.T, fields map[string]string) (policies, states []sfItem) {
	t.Helper()
	policies, err := parseSFList(fields["Ratelimit-Policy"])
	require.NoError(t, err)
	states, err = parseSFList(fields["Ratelimit"])
	require.NoError(t, err)
	require.Len(t, states, len(policies))
	for i, p := range policies {
		require.Equal(t, p.value, states[i].value)
		require.Contains(t, p.parameters, "q")
		require.Contains(t, p.parameters, "w")
		require.Len(t, p.parameters, 2)
		require.Positive(t, p.parameters["w"])
		require.Contains(t, states[i].parameters, "r")
	}
	return policies, states
}

func TestDraftNamesWindowsByTheirLength(t *testing.T) {
	t.Parallel()
	for window, name := range map[time.Duration]string{
		time.Second:                    "free-1s",
		10 * time.Second:               "free-10s",
		90 * time.Second:               "free-1m30s",
		time.Minute:                    "free-1m",
		10 * time.Minute:               "free-10m",
		time.Hour:                      "free-1h",
		90 * time.Minute:               "free-1h30m",
		time.Hour + time.Second:        "free-1h0m1s",
		24 * time.Hour:                 "free-24h",
		30 * 24 * time.Hour:            "free-720h",
		1500 * time.Millisecond:        "free-1.5s",
		20 * time.Millisecond:          "free-20ms",
		500 * time.Microsecond:         "free-500%c2%b5s",
		10*time.Minute + 2*time.Second: "free-10m2s",
	} {
		d := allowed(t, core.Per(5, window).And(core.Per(5, 1000*time.Hour)))
		policies, _ := requireFields(t, written(httplimit.Draft, d))
		require.Equal(t, name, policies[0].value)
	}
}

func TestDraftNamesAreASCII(t *testing.T) {
	t.Parallel()
	for tier, name := range map[string]string{
		"pro":             `"pro"`,
		"pro plus, 20":    `"pro plus, 20"`,
		`say "pro"`:       `"say \"pro\""`,
		`back\slash`:      `"back\\slash"`,
		"100%":            `"100%25"`,
		"größe":           `"gr%c3%b6%c3%9fe"`,
		"プロ":              `"%e3%83%97%e3%83%ad"`,
		"</script>":       `"</script>"`,
		"a;b=c":           `"a;b=c"`,
		"~":               `"~"`,
		`"`:               `"\""`,
		"\u2028":          `"%e2%80%a8"`,
		"emoji\U0001f600": `"emoji%f0%9f%98%80"`,
	} {
		d := newLimiterFor(t, tier, core.PerMinute(10)).Take(t.Context(), core.Identity{Key: "key_ana"}, 1)
		got := written(httplimit.Draft, d)
		require.Equal(t, name+";q=10;w=60", got["Ratelimit-Policy"])
		require.Equal(t, name+";r=9;t=6", got["Ratelimit"])
		requireFields(t, got)
	}
}

func TestDraftEscapesNamesThatNoPlanCanHave(t *testing.T) {
	t.Parallel()
	d := allowed(t, core.PerMinute(10))
	for tier, name := range map[string]string{
		"":               `""`,
		"line\r\nX-A: b": `"line%0d%0aX-A: b"`,
		"\x00\x1f\x7f":   `"%00%1f%7f"`,
		"\xff\xfe":       `"%ff%fe"`,
	} {
		d.Tier = tier
		got := written(httplimit.Draft, d)
		require.Equal(t, name+";q=10;w=60", got["Ratelimit-Policy"])
		requireFields(t, got)
	}
}

func TestDraftIntegersHaveAtMost15Digits(t *testing.T) {
	t.Parallel()
	if math.MaxInt == math.MaxInt32 {
		t.Skip("no count on this machine has 16 digits")
	}
	most := int64(1) << 52
	d := allowed(t, core.Per(int(most), 1<<52*time.Microsecond))
	got := written(httplimit.Draft, d)
	require.Equal(t, `"free";q=999999999999999;w=4503599628`, got["Ratelimit-Policy"])
	require.Equal(t, `"free";r=999999999999999;t=1`, got["Ratelimit"])
	requireFields(t, got)

	d = allowed(t, core.PerMinute(10))
	d.Limit.Burst, d.Level.Remaining, d.Level.ResetAfter = math.MaxInt, math.MaxInt, math.MaxInt64
	d.Limit.Algorithm, d.Limit.Window = core.FixedWindow, math.MaxInt64
	got = written(httplimit.Draft, d)
	require.Equal(t, `"free";q=999999999999999;w=9223372037`, got["Ratelimit-Policy"])
	require.Equal(t, `"free";r=999999999999999;t=9223372037`, got["Ratelimit"])
	requireFields(t, got)
}

func TestDraftNeverTellsToWaitLongerThanRetryAfter(t *testing.T) {
	t.Parallel()
	for _, q := range []core.Quota{
		core.PerMinute(10),
		core.PerSecond(3).And(core.PerDay(100)),
		core.PerDay(5).And(core.PerMinute(50)),
		core.PerHour(4).Using(core.SlidingLog).And(core.PerMinute(9)),
		core.PerDay(4).Using(core.FixedWindow).And(core.PerSecond(3)).And(core.PerMinute(3)),
	} {
		d := refused(t, q)
		wait := int64(math.Ceil(d.Level.RetryAfter.Seconds()))
		_, states := requireFields(t, written(httplimit.Draft, d))
		longest := int64(0)
		for _, s := range states {
			if seconds, ok := s.parameters["t"]; ok {
				longest = max(longest, seconds)
			}
		}
		require.Equal(t, wait, longest, q)
	}
}
