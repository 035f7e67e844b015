package core_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// journal reads back what LogTo wrote.
type journal struct{ bytes.Buffer }

func (j *journal) observer() core.Option {
	return core.WithObserver(core.LogTo(slog.New(slog.NewJSONHandler(&j.Buffer, nil))))
}

// take returns the lines since the last call.
func (j *journal) take(t *testing.T) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for line := range strings.Lines(j.String()) {
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &fields))
		lines = append(lines, fields)
	}
	j.Reset()
	return lines
}

func TestLogToLogsRefusalsAtInfoAndNothingOfTheRest(t *testing.T) {
	t.Parallel()
	var j journal
	r := newRig(t, threeTiers(), j.observer(), core.OnMissing(core.Deny(401)))
	r.Take(t.Context(), ana, 10).Settle(t.Context(), 10)
	r.Take(t.Context(), core.Identity{Key: "k", Tier: "vip"}, 1)
	require.Empty(t, j.take(t))

	r.Take(t.Context(), ana, 2)
	lines := j.take(t)
	require.Len(t, lines, 1)
	require.Equal(t, "INFO", lines[0]["level"])
	require.Equal(t, "free", lines[0]["tier"])
	require.Equal(t, "over_quota", lines[0]["outcome"])
	require.InDelta(t, 2, lines[0]["asked"], 0)
	require.InDelta(t, float64(12*sec), lines[0]["retry_after"], 0)
	require.NotContains(t, lines[0], "shadow")

	r.Take(t.Context(), core.Identity{}, 1)
	r.Take(t.Context(), ana, -1)
	r.Fail(t.Context(), errors.New("the user table is gone"))
	lines = j.take(t)
	require.Len(t, lines, 3)
	for i, outcome := range []string{"missing", "invalid_cost", "identify_failed"} {
		require.Equal(t, "INFO", lines[i]["level"])
		require.Equal(t, outcome, lines[i]["outcome"])
	}
	require.Equal(t, "the user table is gone", lines[2]["error"])

	d := r.Take(t.Context(), core.Identity{Key: "key_eva", Tier: "free"}, 1)
	r.Take(t.Context(), core.Identity{Key: "key_eva", Tier: "free"}, 5)
	require.Empty(t, j.take(t))
	d.Raise(t.Context(), 9)
	require.Len(t, j.take(t), 1, "a refused Raise is a refusal")
}

func TestLogToLogsUnknownTiersAtWarn(t *testing.T) {
	t.Parallel()
	var j journal
	r := newRig(t, threeTiers(), j.observer())
	d := r.Take(t.Context(), core.Identity{Key: "key_eva", Tier: "gold"}, 1)
	d.Settle(t.Context(), 3)
	lines := j.take(t)
	require.Len(t, lines, 1, "once a request")
	require.Equal(t, "WARN", lines[0]["level"])
	require.Equal(t, "gold", lines[0]["unknown_tier"])
	require.Equal(t, "free", lines[0]["tier"])
	require.Equal(t, "allowed", lines[0]["outcome"])

	r.Take(t.Context(), core.Identity{Key: "key_eva", Tier: strings.Repeat("x", 1<<20)}, 1)
	require.Less(t, j.Len(), 1000, "a line is bounded")
	j.take(t)
	denied := r.with(t, core.OnUnknownTier(core.Deny(403)))
	denied.Take(t.Context(), core.Identity{Key: "key_eva", Tier: "gold"}, 1)
	lines = j.take(t)
	require.Len(t, lines, 2)
	require.Equal(t, "WARN", lines[0]["level"])
	require.Equal(t, "INFO", lines[1]["level"])
}

func TestLogToTellsWhatAShadowWouldHaveRefused(t *testing.T) {
	t.Parallel()
	var j journal
	r := newRig(t, only("free", core.PerMinute(1).Shadow()), j.observer())
	r.Take(t.Context(), ana, 1)
	r.Take(t.Context(), ana, 1)
	lines := j.take(t)
	require.Len(t, lines, 1)
	require.Equal(t, "INFO", lines[0]["level"])
	require.Equal(t, true, lines[0]["shadow"])
	require.Equal(t, "over_quota", lines[0]["outcome"])
}

func TestLogToNeverWritesTheKeyOrTheAddress(t *testing.T) {
	t.Parallel()
	var j journal
	r := newRig(t, threeTiers(), j.observer())
	closed := r.with(t, core.OnStorageError(core.Deny(503)), core.OnMissing(core.Deny(401)))
	for _, tier := range []string{"free", "anonymous", "vip", "banned", "gold", ""} {
		for _, key := range []string{"SECRET-KEY", ""} {
			id := core.Identity{Key: key, Tier: tier, Addr: "203.0.113.99"}
			for _, cost := range []int{1, 8, 8, 100, -1} {
				d := r.Take(t.Context(), id, cost)
				d.Raise(t.Context(), 10)
				d.Refund(t.Context())
				closed.Take(t.Context(), id, cost)
			}
		}
	}
	r.store.fail = errDown
	for _, key := range []string{"SECRET-KEY", ""} {
		r.clock.Advance(sec)
		r.Take(t.Context(), core.Identity{Key: key, Tier: "free", Addr: "203.0.113.99"}, 1)
		closed.Take(t.Context(), core.Identity{Key: key, Tier: "free", Addr: "203.0.113.99"}, 1)
	}
	require.Positive(t, j.Len())
	require.NotContains(t, j.String(), "SECRET-KEY")
	require.NotContains(t, j.String(), "203.0.113.99")
}

func TestLogToWithoutALoggerUsesTheDefaultOfTheMoment(t *testing.T) {
	var j journal
	observe := core.LogTo(nil)
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(&j.Buffer, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	observe(t.Context(), core.Event{Decision: core.Decision{Outcome: core.TierBlocked, Tier: "ban"}})
	require.Len(t, j.take(t), 1)
}
