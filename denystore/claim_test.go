package denystore_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// asking runs f, which asks the store, and holds its answer back until then is
// done.
func (c cached) asking(f, then func()) {
	asked, answer, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	c.next.before = func() {
		close(asked)
		<-answer
	}
	go func() {
		defer close(done)
		f()
	}()
	<-asked
	c.next.before = nil
	then()
	close(answer)
	<-done
}

// TestWhileOneAsksOthersAreRefusedAsIfItWasCharged, from the moment on at which
// a unit fits.
func TestWhileOneAsksOthersAreRefusedAsIfItWasCharged(t *testing.T) {
	t.Parallel()
	c := newCached()
	c.exhaust(t, ten)
	c.clock.Advance(6 * time.Second)
	c.asking(func() { require.True(t, charge(t, c, ten, 1).Allowed) }, func() {
		require.Zero(t, c.asks(func() {
			res := charge(t, c, ten, 1)
			require.False(t, res.Allowed)
			require.Equal(t, core.Level{ResetAfter: time.Minute, RetryAfter: 6 * time.Second}, res.Levels[0])
			c.clock.Advance(100 * time.Millisecond)
			require.Equal(t, 17900*time.Millisecond, charge(t, c, ten, 3).Levels[0].RetryAfter, "a dearer one waits longer")
		}))
	})
	require.Zero(t, c.asks(func() {
		require.Equal(t, 5900*time.Millisecond, charge(t, c, ten, 1).Levels[0].RetryAfter, "and it was")
	}))
}

// TestWhatFitsBesideAClaimIsAskedFor: two units have come back.
func TestWhatFitsBesideAClaimIsAskedFor(t *testing.T) {
	t.Parallel()
	limits := core.PerSecond(2).Limits()
	c := newCached()
	c.exhaust(t, limits)
	c.clock.Advance(time.Second)
	c.asking(func() { require.True(t, charge(t, c, limits, 1).Allowed) }, func() {
		require.Equal(t, 1, c.asks(func() {
			require.True(t, charge(t, c, limits, 1).Allowed)
			require.False(t, charge(t, c, limits, 1).Allowed)
		}))
	})
}

// TestAClaimEnds with the store's answer, whatever it is.
func TestAClaimEnds(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, s := range []struct {
		name string
		ctx  context.Context //nolint:containedctx // a row of a table
		err  error
	}{
		{"an error", t.Context(), errAway},
		{"a hang-up", ended, context.Canceled},
		{"the caller's deadline", hurried{t.Context(), time.Now()}, context.DeadlineExceeded},
	} {
		c := newCached()
		c.exhaust(t, ten)
		c.clock.Advance(6 * time.Second)
		c.asking(func() {
			_, err := c.Take(s.ctx, core.Request{Key: ana, Limits: ten, Cost: 1})
			require.ErrorIs(t, err, s.err)
		}, func() {
			require.False(t, charge(t, c, ten, 1).Allowed, s.name)
			c.next.fail(s.err)
		})
		c.next.fail(nil)
		require.True(t, charge(t, c, ten, 1).Allowed, s.name)
	}
}

// TestAClaimThatIsRefusedIsKnownAtOnce: another instance was faster.
func TestAClaimThatIsRefusedIsKnownAtOnce(t *testing.T) {
	t.Parallel()
	c := newCached()
	c.exhaust(t, ten)
	c.clock.Advance(7 * time.Second)
	take(t, c.next.Store, core.Request{Key: ana, Limits: ten, Cost: 1})
	require.Equal(t, 1, c.asks(func() {
		require.False(t, charge(t, c, ten, 1).Allowed)
		require.Equal(t, 5*time.Second, charge(t, c, ten, 1).Levels[0].RetryAfter)
	}))
}

// TestAClaimIsNotBelievedForLongerThanTheAge, when the store does not answer.
func TestAClaimIsNotBelievedForLongerThanTheAge(t *testing.T) {
	t.Parallel()
	c := newCached()
	c.exhaust(t, ten)
	c.clock.Advance(6 * time.Second)
	c.asking(func() { charge(t, c, ten, 1) }, func() {
		c.clock.Advance(time.Second - time.Microsecond)
		c.asks(func() { require.False(t, charge(t, c, ten, 1).Allowed) })
		c.clock.Advance(time.Microsecond)
		require.Equal(t, 1, c.asks(func() { require.True(t, charge(t, c, ten, 1).Allowed) }))
	})
}

// TestAGiveBackEndsAClaim: there is room for both.
func TestAGiveBackEndsAClaim(t *testing.T) {
	t.Parallel()
	for _, undo := range []bool{false, true} {
		c := newCached()
		c.exhaust(t, ten)
		c.clock.Advance(6 * time.Second)
		c.asking(func() { require.True(t, charge(t, c, ten, 1).Allowed) }, func() {
			take(t, c, core.Request{Key: ana, Limits: ten, Cost: -1, Mode: core.Force, Undo: undo})
			require.True(t, charge(t, c, ten, 1).Allowed)
		})
	}
}

// TestWhoComesLongAfterItFitsAsks: nothing is known of what stands by then.
func TestWhoComesLongAfterItFitsAsks(t *testing.T) {
	t.Parallel()
	c := newCached()
	c.exhaust(t, ten)
	c.clock.Advance(7*time.Second + time.Microsecond)
	c.asking(func() { charge(t, c, ten, 1) }, func() {
		require.Equal(t, 1, c.asks(func() { require.True(t, charge(t, c, ten, 1).Allowed) }))
	})
}
