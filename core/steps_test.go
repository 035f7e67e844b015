package core_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

const (
	charge = core.Charge
	look   = core.Look
	force  = core.Force

	us     = time.Microsecond
	ms     = time.Millisecond
	sec    = time.Second
	minute = time.Minute
	hour   = time.Hour
	day    = 24 * time.Hour
)

// step is one row of a table: after advance, cost units are asked for in mode,
// and this is the answer. A row of a single window states its level in
// remaining, retry and reset; of several windows in levels.
type step struct {
	advance   time.Duration
	cost      int
	mode      core.Mode
	allowed   bool
	remaining int
	retry     time.Duration
	reset     time.Duration
}

// walker is a state, a moment and the limits that the next step is judged by.
type walker struct {
	state  core.State
	now    time.Time
	limits []core.Limit
}

func newWalker(q core.Quota) *walker { return &walker{now: start, limits: q.Limits()} }

// ask advances the moment and asks for cost.
func (w *walker) ask(advance time.Duration, cost int, mode core.Mode) core.Result {
	w.now = w.now.Add(advance)
	return core.Apply(&w.state, w.now, core.Request{Limits: w.limits, Cost: cost, Mode: mode})
}

// walk carries out steps of a single window.
func (w *walker) walk(t *testing.T, steps []step) {
	t.Helper()
	for i, s := range steps {
		res := w.ask(s.advance, s.cost, s.mode)
		require.Equal(t, s.allowed, res.Allowed, "allowed in row %d: %+v", i, res.Levels[0])
		require.Equal(t, core.Level{Remaining: s.remaining, ResetAfter: s.reset, RetryAfter: s.retry}, res.Levels[0], "row %d", i)
		require.Equal(t, w.now, res.Now, "row %d", i)
	}
}

// spend takes cost, which must be allowed.
func (w *walker) spend(t *testing.T, cost int) {
	t.Helper()
	require.True(t, w.ask(0, cost, charge).Allowed)
}

// expires is how long from now until the state is as good as fresh.
func (w *walker) expires() time.Duration { return w.state.Expires().Sub(w.now) }
