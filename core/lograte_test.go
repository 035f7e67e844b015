package core_test

import (
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

func TestLogToLogsAtMostOneStorageFailureASecond(t *testing.T) {
	t.Parallel()
	var j journal
	r := newRig(t, only("free", core.PerMinute(10)), j.observer())
	closed := r.with(t, core.OnStorageError(core.Deny(503)))
	r.store.fail = errDown
	for range 50 {
		r.Take(t.Context(), ana, 1)
		closed.Take(t.Context(), ana, 1)
	}
	lines := j.take(t)
	require.Len(t, lines, 1)
	require.Equal(t, "ERROR", lines[0]["level"])
	require.Equal(t, "free", lines[0]["tier"])
	require.Equal(t, "allowed_on_storage_error", lines[0]["outcome"])
	require.Equal(t, "storage error: connection refused", lines[0]["error"])

	r.clock.Advance(sec - us)
	r.Take(t.Context(), ana, 1)
	require.Empty(t, j.take(t))
	r.clock.Advance(us)
	closed.Take(t.Context(), ana, 1)
	lines = j.take(t)
	require.Len(t, lines, 1)
	require.Equal(t, "storage_failed", lines[0]["outcome"])
	require.InDelta(t, 100, lines[0]["not_logged"], 0)

	r.clock.Advance(-hour)
	r.Take(t.Context(), ana, 1)
	require.Len(t, j.take(t), 1, "a clock that was set back silences nothing")
	r.clock.Advance(100 * ms)
	r.Take(t.Context(), ana, 1)
	require.Empty(t, j.take(t))
}

func TestLogToLogsAtMostOnceASecondThatAFallbackAnswers(t *testing.T) {
	t.Parallel()
	var j journal
	r := newRig(t, only("free", core.PerMinute(60)), j.observer())
	for range 5 {
		r.Take(t.Context(), ana, 1)
	}
	require.Empty(t, j.take(t))

	r.store.degraded = true
	for range 50 {
		r.Take(t.Context(), ana, 1).Settle(t.Context(), 1)
	}
	lines := j.take(t)
	require.Len(t, lines, 1)
	require.Equal(t, "WARN", lines[0]["level"])
	require.Equal(t, "rate limit: degraded", lines[0]["msg"])
	require.Equal(t, "free", lines[0]["tier"])
	require.Equal(t, "allowed", lines[0]["outcome"])
	require.InDelta(t, 0, lines[0]["not_logged"], 0)

	r.clock.Advance(sec - us)
	r.Take(t.Context(), ana, 1).Settle(t.Context(), 3)
	require.Empty(t, j.take(t))
	r.clock.Advance(us)
	r.Take(t.Context(), ana, 1).Refund(t.Context())
	lines = j.take(t)
	require.Len(t, lines, 1)
	require.InDelta(t, 50, lines[0]["not_logged"], 0)

	r.Take(t.Context(), ana, 60)
	lines = j.take(t)
	require.Len(t, lines, 1, "a refusal is one besides")
	require.Equal(t, "over_quota", lines[0]["outcome"])
	require.Equal(t, "INFO", lines[0]["level"])

	r.store.fail = errDown
	r.Take(t.Context(), ana, 1)
	require.Len(t, j.take(t), 1, "a failure does not wait for it")

	r.store.fail, r.store.degraded = nil, false
	r.clock.Advance(sec)
	r.Take(t.Context(), ana, 1)
	require.Empty(t, j.take(t))
}

func TestLogToCountsCorrectionsThatFailedIntoTheSameSecond(t *testing.T) {
	t.Parallel()
	var j journal
	r := newRig(t, only("free", core.PerHour(100)), j.observer())
	older := r.Take(t.Context(), ana, 1)
	r.clock.Advance(10 * sec)
	old := r.Take(t.Context(), ana, 1)
	r.clock.Advance(10 * sec)
	r.store.fail = errDown
	for range 10 { // all within one instant, whenever the request was checked
		older.Settle(t.Context(), 5)
		r.Take(t.Context(), ana, 1)
		old.Settle(t.Context(), 5)
		old.Raise(t.Context(), 5)
	}
	lines := j.take(t)
	require.Len(t, lines, 1)
	require.Equal(t, "ERROR", lines[0]["level"])
	r.clock.Advance(sec)
	older.Refund(t.Context())
	require.Len(t, j.take(t), 1, "a second later they are told again")
}

// TestLogToCountsWhatItDoesNotLog to the unit: many at once, and the clock is set
// back meanwhile.
func TestLogToCountsWhatItDoesNotLog(t *testing.T) {
	t.Parallel()
	const workers, each = 8, 5000
	var j journal
	observe := core.LogTo(slog.New(slog.NewJSONHandler(&j.Buffer, nil))) // a handler writes one line at a time
	start := time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC)
	tell := func(at time.Time) {
		observe(t.Context(), core.Event{Decision: core.Decision{Outcome: core.Allowed, Degraded: true, At: at}})
	}
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			for i := range each {
				at := start.Add(time.Duration(i) * 300 * ms) // many a second, many seconds
				if worker == 0 && i == each/2 {
					at = start.Add(-hour)
				}
				tell(at)
			}
		})
	}
	all.Wait()
	tell(start.Add(hour)) // tells of those that are left
	told := 0.0
	for _, line := range j.take(t) {
		unlogged, ok := line["not_logged"].(float64)
		require.True(t, ok)
		told += 1 + unlogged
	}
	require.InDelta(t, workers*each+1, told, 0)
}
