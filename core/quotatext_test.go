package core_test

import (
	"encoding"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

var (
	_ encoding.TextMarshaler   = core.Quota{}
	_ encoding.TextUnmarshaler = (*core.Quota)(nil)
)

func quotaTexts() []string {
	return []string{
		"10/min", "100/h burst 20", "10/s and 1000/day", "5/10s sliding", "1000/day fixed", "unlimited", "blocked",
		"10/min shadow", "20/s burst 40 and 50000/24h", "unlimited shadow", "blocked shadow", "1/876000h", "3/1.5s", "1/7µs",
		"10/s and 10/s fixed and 10/s sliding and 10/min", "1/90m", "1/1h0m0.5s", "  10 / min", "10/MIN  Burst\t5",
	}
}

func badQuotaTexts() []string {
	return []string{
		"", " ", "and", "10/s and", "and 10/s", "10", "/s", "10/", "x/s", "+5/s", "-5/s", "0/s", "5/+1s", "5/-1s", "5/0s", "5/0d", "5/x",
		"10/s burst", "10/s burst x", "10/s burst 0", "10/s burst -1", "10/s burst +1",
		"10/s burst 5 fixed", "10/s fixed burst 5", "10/s sliding fixed", "10/s often",
		"shadow", "10/s shadow and 10/min", "shadow 10/s", "10/s and shadow", "unlimited and 10/s", "10/s and unlimited", "unlimited 10", "blocked and blocked",
		"600000/s", "10/s and 10/s", "1/s and 1/min and 1/h and 1/day and 1/2h", "99999999999999999999/s",
		"5/200000d", "5/1e9s", "5/1ns", "1.5/s", "unset", "10/s\x00",
	}
}

func TestQuotaTextReadsAsItIsWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]core.Quota{
		"10/min":                 core.PerMinute(10),
		"10/m":                   core.PerMinute(10),
		"10/minute":              core.PerMinute(10),
		"10/s":                   core.PerSecond(10),
		"10/sec":                 core.PerSecond(10),
		"10/second":              core.PerSecond(10),
		"100/h burst 20":         core.PerHour(100).WithBurst(20),
		"100/hour":               core.PerHour(100),
		"10/s and 1000/day":      core.PerSecond(10).And(core.PerDay(1000)),
		"1000/d":                 core.PerDay(1000),
		"1000/7d":                core.Per(1000, 7*day),
		"1/36500d":               core.Per(1, 36_500*day),
		"5/10s sliding":          core.Per(5, 10*sec).Using(core.SlidingLog),
		"1000/day fixed":         core.PerDay(1000).Using(core.FixedWindow),
		"5/250ms":                core.Per(5, 250*ms),
		"unlimited":              core.Unlimited(),
		"blocked":                core.Blocked(),
		"10/min shadow":          core.PerMinute(10).Shadow(),
		"10/S AND 1000/Day":      core.PerSecond(10).And(core.PerDay(1000)),
		"  10/s \n and\t1/min  ": core.PerSecond(10).And(core.PerMinute(1)),
		"1/min and 10/s":         core.PerSecond(10).And(core.PerMinute(1)),
		"10/s burst 5 and 9/h fixed and 8/h sliding shadow": core.PerSecond(10).WithBurst(5).
			And(core.PerHour(9).Using(core.FixedWindow)).And(core.PerHour(8).Using(core.SlidingLog)).Shadow(),
	} {
		q, err := core.ParseQuota(text)
		require.NoError(t, err, text)
		require.True(t, q.Equal(want), "%s is %v", text, q)
	}
}

func TestQuotaStringIsItsShortestText(t *testing.T) {
	t.Parallel()
	for want, q := range map[string]core.Quota{
		"20/s burst 40 and 50000/24h":  core.PerSecond(20).WithBurst(40).And(core.PerDay(50_000)),
		"10/min":                       core.PerMinute(10).WithBurst(10),
		"10/h":                         core.PerHour(10),
		"5/10s sliding":                core.Per(5, 10*sec).Using(core.SlidingLog),
		"1000/24h fixed":               core.PerDay(1000).Using(core.FixedWindow),
		"1/1h30m":                      core.Per(1, 90*minute),
		"1/10m":                        core.Per(1, 10*minute),
		"1/1m30s":                      core.Per(1, 90*sec),
		"1/20h":                        core.Per(1, 20*hour),
		"1/1.5s":                       core.Per(1, 1500*ms),
		"1/7µs":                        core.Per(1, 7*us),
		"unlimited":                    core.Unlimited(),
		"blocked":                      core.Blocked(),
		"10/min shadow":                core.PerMinute(10).Shadow(),
		"1/s and 2/min and 3/h shadow": core.PerSecond(1).And(core.PerMinute(2)).And(core.PerHour(3)).Shadow(),
		"unset":                        {},
	} {
		require.Equal(t, want, q.String())
	}
}

func TestQuotaTextSurvivesTheRoundTrip(t *testing.T) {
	t.Parallel()
	spans := []time.Duration{
		us, 7 * us, ms, 999_999 * us, sec, 61 * sec, minute, 10 * minute,
		hour, hour + minute, 20 * hour, day, 100 * day, 36_500 * day, 1<<52*us - us,
	}
	for _, d := range spans {
		for _, q := range []core.Quota{
			core.Per(1, d), core.Per(1, d).WithBurst(1), core.Per(3, d).Using(core.FixedWindow), core.Per(3, d).Using(core.SlidingLog), core.Per(1, d).Shadow(),
		} {
			text, err := q.MarshalText()
			require.NoError(t, err, d)
			require.Equal(t, q.String(), string(text))
			var again core.Quota
			require.NoError(t, again.UnmarshalText(text), string(text))
			require.True(t, q.Equal(again), string(text))
		}
	}
}

func TestQuotaTextInJSON(t *testing.T) {
	t.Parallel()
	var plans struct {
		Free core.Quota `json:"free"`
	}
	require.NoError(t, json.Unmarshal([]byte(`{"free":"10/s and 1000/day"}`), &plans))
	require.True(t, plans.Free.Equal(core.PerSecond(10).And(core.PerDay(1000))))
	text, err := json.Marshal(plans)
	require.NoError(t, err)
	require.JSONEq(t, `{"free":"10/s and 1000/24h"}`, string(text))
}

func TestBadQuotaTextIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range badQuotaTexts() {
		q, err := core.ParseQuota(text)
		require.ErrorContains(t, err, "core: bad quota ", text)
		require.Equal(t, core.Quota{}, q, text)
	}
	for text, want := range map[string]string{
		"":                   "10/min",
		"x/s":                `"x" is no count in "x/s"`,
		"10/fortnight":       `"fortnight" is no window`,
		"10/s often":         `"often" after "10/s"`,
		"10/s burst many":    `"many" is no burst`,
		"10/s and":           "and",
		"0/s":                "quota count is 0, must be greater than 0",
		"600000/s":           "500000/s and 1000000/s",
		"10/s fixed and 0/h": "quota count is 0",
	} {
		_, err := core.ParseQuota(text)
		require.ErrorContains(t, err, want, text)
	}
}

func TestUnmarshalLeavesTheQuotaAloneOnAnError(t *testing.T) {
	t.Parallel()
	q := core.PerMinute(10)
	require.Error(t, q.UnmarshalText([]byte("10/never")))
	require.True(t, q.Equal(core.PerMinute(10)))
}

func TestMarshalRefusesAQuotaThatNewRefuses(t *testing.T) {
	t.Parallel()
	for _, q := range []core.Quota{{}, core.PerMinute(0), core.PerDay(10).Using(core.FixedWindow).WithBurst(3)} {
		_, err := q.MarshalText()
		require.ErrorContains(t, err, "core: bad quota: ")
	}
}

func TestParseQuotaReadsALongTextInTime(t *testing.T) {
	t.Parallel()
	_, err := core.ParseQuota(strings.Repeat("1/s and ", 2000) + "1/s")
	require.ErrorContains(t, err, "at most 4")
}
