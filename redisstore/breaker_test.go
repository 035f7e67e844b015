package redisstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// newTestBreaker's cool-down has ended when base is put back by an hour.
func newTestBreaker(failures int64) (*breaker, *atomic.Int64) {
	var changes atomic.Int64
	b := &breaker{failures: failures, cooldown: time.Minute, base: time.Now()}
	b.changed = func() { changes.Add(1) }
	return b, &changes
}

func (b *breaker) is() State { return State(b.state.Load()) }

func fail(t *testing.T, b *breaker) {
	t.Helper()
	ticket, ok := b.enter()
	require.True(t, ok)
	b.leave(ticket, false, true)
}

func TestBreakerOpensAfterFailuresInARowOnly(t *testing.T) {
	t.Parallel()
	b, changes := newTestBreaker(3)
	for range 10 {
		fail(t, b)
		fail(t, b)
		ticket, _ := b.enter()
		b.leave(ticket, true, false) // an answer, whichever, ends the row
	}
	require.Equal(t, StateClosed, b.is())
	for range 10 { // a caller's own deadline tells nothing
		ticket, _ := b.enter()
		b.leave(ticket, false, false)
	}
	require.Equal(t, StateClosed, b.is())
	for range 3 {
		fail(t, b)
	}
	require.Equal(t, StateOpen, b.is())
	require.EqualValues(t, 1, changes.Load())
	_, ok := b.enter()
	require.False(t, ok)
}

func TestOneProbeGoesThroughAtTheEndOfACoolDown(t *testing.T) {
	t.Parallel()
	b, _ := newTestBreaker(1)
	fail(t, b)
	b.base = b.base.Add(-time.Hour)
	var through atomic.Int64
	var probe ticket
	var wg sync.WaitGroup
	for range 500 {
		wg.Go(func() {
			if ticket, ok := b.enter(); ok {
				through.Add(1)
				probe = ticket
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, through.Load())
	require.Equal(t, StateHalfOpen, b.is())

	b.leave(probe, false, true)
	require.Equal(t, StateOpen, b.is())
	_, ok := b.enter()
	require.False(t, ok, "a failed probe begins another cool-down")

	b.base = b.base.Add(-time.Hour)
	probe, ok = b.enter()
	require.True(t, ok)
	b.leave(probe, true, false)
	require.Equal(t, StateClosed, b.is())
}

// TestInstancesDoNotProbeInStep: a cool-down is give or take a quarter.
func TestInstancesDoNotProbeInStep(t *testing.T) {
	t.Parallel()
	shortest, longest := time.Hour, time.Duration(0)
	for range 1000 {
		b, _ := newTestBreaker(1)
		fail(t, b)
		shortest, longest = min(shortest, b.until), max(longest, b.until)
	}
	const cooldown, late = time.Minute, 5 * time.Second // as late as a machine may be
	require.GreaterOrEqual(t, shortest, cooldown*3/4)
	require.Less(t, shortest, cooldown*85/100)
	require.Greater(t, longest, cooldown*115/100)
	require.LessOrEqual(t, longest, cooldown*5/4+late)

	// Nor after a probe that failed.
	b, _ := newTestBreaker(1)
	fail(t, b)
	spans := map[time.Duration]bool{}
	for range 20 {
		b.base = b.base.Add(-time.Hour)
		probe, ok := b.enter()
		require.True(t, ok)
		b.leave(probe, false, true)
		spans[(b.until - time.Since(b.base)).Round(time.Second)] = true
	}
	require.Greater(t, len(spans), 5)
}

func TestAProbeThatTellsNothingLetsAnotherTry(t *testing.T) {
	t.Parallel()
	b, _ := newTestBreaker(1)
	fail(t, b)
	b.base = b.base.Add(-time.Hour)
	probe, ok := b.enter()
	require.True(t, ok)
	b.leave(probe, false, false)
	require.Equal(t, StateOpen, b.is())
}

func TestALateFailureDoesNotOpenAgain(t *testing.T) {
	t.Parallel()
	b, _ := newTestBreaker(2)
	late, _ := b.enter()
	fail(t, b)
	fail(t, b)
	require.Equal(t, StateOpen, b.is())
	b.base = b.base.Add(-time.Hour)
	probe, _ := b.enter()
	b.leave(late, false, true)
	require.Equal(t, StateHalfOpen, b.is())
	b.leave(probe, true, false)
	require.Equal(t, StateClosed, b.is())
}

func TestStateHasLabels(t *testing.T) {
	t.Parallel()
	require.Equal(t, "closed half_open open State(9)", fmt.Sprint(StateClosed, StateHalfOpen, StateOpen, State(9)))
}

func TestErrorsAreClassified(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		want   error
		breaks bool
	}{
		{context.DeadlineExceeded, ErrTimeout, true},
		{os.ErrDeadlineExceeded, ErrTimeout, true},
		{io.EOF, ErrUnreachable, true},
		{fmt.Errorf("x: %w", errParse), ErrReply, false},
		{errors.New("connection refused"), ErrUnreachable, true},
	} {
		err := classify(c.err)
		require.ErrorIs(t, err, c.want)
		require.ErrorIs(t, err, c.err, "the cause stays")
		require.Equal(t, c.breaks, breaks(err))
	}
	require.NoError(t, classify(nil))
}

func TestDeadlinesAreSharedWithinATick(t *testing.T) {
	t.Parallel()
	d := &deadlines{timeout: time.Minute, base: time.Now()}
	a, b := d.shared(), d.shared()
	require.Equal(t, a, b)
	deadline, ok := a.Deadline()
	require.True(t, ok)
	require.InDelta(t, time.Minute, time.Until(deadline), float64(time.Second))
	d.base = d.base.Add(-time.Second)
	require.NotEqual(t, a, d.shared())
}

func TestWhoHasLessTimeThanACheckIsInAHurry(t *testing.T) {
	t.Parallel()
	d := &deadlines{timeout: time.Minute, base: time.Now()}
	require.False(t, d.inHurry(t.Context()))
	for span, want := range map[time.Duration]bool{time.Second: true, time.Hour: false} {
		ctx, cancel := context.WithTimeout(t.Context(), span)
		require.Equal(t, want, d.inHurry(ctx))
		cancel()
	}
}
