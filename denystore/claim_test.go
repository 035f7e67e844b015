package denystore_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// TestWhileOneAsksOthersAreRefusedAsIfItWasCharged, from the moment on at which
// it fits.
func TestWhileOneAsksOthersAreRefusedAsIfItWasCharged(t *testing.T) {
	t.Parallel()
	for _, cost := range []int{1, 3} {
		c := newCached(anHour)
		c.exhaust(t, ten)
		c.clock.Advance(time.Duration(cost) * 6 * time.Second)
		c.asking(func() { require.True(t, charge(t, c, ten, cost).Allowed) }, func() {
			require.Zero(t, c.asks(func() {
				res := charge(t, c, ten, 1)
				require.False(t, res.Allowed)
				require.Equal(t, core.Level{ResetAfter: time.Minute, RetryAfter: 6 * time.Second}, res.Levels[0])
				c.clock.Advance(100 * time.Millisecond)
				require.Equal(t, 17900*time.Millisecond, charge(t, c, ten, 3).Levels[0].RetryAfter, "a dearer one waits longer")
			}))
		})
	}
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
		c.asking(func() { charge(t, c, ten, 1) }, func() {
			require.Equal(t, 1, c.asks(func() { require.True(t, charge(t, c, ten, 1).Allowed) }), "as everybody does")
		})
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

// TestWhatComesBackWhileManyAskIsOneCallEach: a unit takes no longer to come back
// than an answer.
func TestWhatComesBackWhileManyAskIsOneCallEach(t *testing.T) {
	t.Parallel()
	for _, claims := range []int{1, 2} {
		c := newCached(anHour)
		c.exhaust(t, ten)
		c.climb(t, ten, claims, 6*time.Second, func() {
			c.clock.Advance(6 * time.Second)
		})
		var allowed atomic.Int64
		require.Equal(t, 1, c.asks(func() {
			together(8, func(int) {
				if charge(t, c, ten, 1).Allowed {
					allowed.Add(1)
				}
			})
		}), "%d claims", claims)
		require.Equal(t, int64(1), allowed.Load())
	}
}

// TestClaimsUponClaimsAreAskedAboutWhenOfAge: another instance gives back a lot,
// and there is never a moment without one who asks.
func TestClaimsUponClaimsAreAskedAboutWhenOfAge(t *testing.T) {
	t.Parallel()
	limits := core.PerSecond(10).Limits()
	c := newCached()
	c.exhaust(t, limits)
	c.climb(t, limits, 11, 100*time.Millisecond, func() {
		take(t, c.next.Store, core.Request{Key: ana, Limits: limits, Cost: -10, Mode: core.Force})
		c.asking(func() { require.True(t, charge(t, c, limits, 1).Allowed) }, func() {
			c.clock.Advance(100 * time.Millisecond)
			c.asking(func() { charge(t, c, limits, 1) }, func() {}) // one claim more
		})
		c.asking(func() { charge(t, c, limits, 1) }, func() {
			require.True(t, charge(t, c, limits, 1).Allowed, "there is more than one thought")
		})
	})
}
