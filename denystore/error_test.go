package denystore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// TestARefusalThatCannotBeConfirmedIsForgotten: it is of age, and the store does
// not answer. Others find out for themselves instead of being refused for as
// long as the store is away.
func TestARefusalThatCannotBeConfirmedIsForgotten(t *testing.T) {
	t.Parallel()
	c := newCached()
	c.exhaust(t, ten)
	c.next.fail(errAway)
	require.False(t, charge(t, c, ten, 1).Allowed, "until then it is good")
	c.clock.Advance(time.Second)
	for range 3 {
		_, err := c.Take(t.Context(), core.Request{Key: ana, Limits: ten, Cost: 1})
		require.ErrorIs(t, err, errAway)
	}
	c.next.fail(nil)
	require.False(t, charge(t, c, ten, 1).Allowed)
	require.Zero(t, c.asks(func() { charge(t, c, ten, 1) }))
}

// TestWhoHangsUpForgetsNothing, or hammering and hanging up would get around
// the cache.
func TestWhoHangsUpForgetsNothing(t *testing.T) {
	t.Parallel()
	c := newCached()
	c.exhaust(t, ten)
	c.clock.Advance(time.Second)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.next.fail(fmt.Errorf("conn: %w", context.Canceled))
	_, err := c.Take(ctx, core.Request{Key: ana, Limits: ten, Cost: 1})
	require.ErrorIs(t, err, context.Canceled)
	c.next.fail(nil)
	require.Zero(t, c.asks(func() { require.False(t, charge(t, c, ten, 1).Allowed) }))
}

func TestErrorsAreHandedOnAndNotRemembered(t *testing.T) {
	t.Parallel()
	c := newCached()
	c.next.fail(errAway)
	for _, r := range []core.Request{
		{Cost: 1},
		{Cost: 1, Mode: core.Look},
		{Cost: 1, Mode: core.Force},
		{Cost: -1, Mode: core.Force, Undo: true},
		{Cost: 1, Degraded: true},
	} {
		r.Key, r.Limits = ana, ten
		_, err := c.Take(t.Context(), r)
		require.Equal(t, errAway, err, "as it is")
	}
	c.next.fail(nil)
	require.True(t, charge(t, c, ten, 1).Allowed)
}

// hurried is a ctx of which the deadline is known, and is not over yet: its timer
// has still to run.
type hurried struct {
	context.Context //nolint:containedctx // it is one

	deadline time.Time
}

func (c hurried) Deadline() (time.Time, bool) { return c.deadline, true }

// TestWhoseDeadlineHasComeForgetsNothing: the store watched the caller's deadline
// itself and was earlier than ctx. Its own deadline is a failure.
func TestWhoseDeadlineHasComeForgetsNothing(t *testing.T) {
	t.Parallel()
	errTimeout := fmt.Errorf("no answer: %w", context.DeadlineExceeded)
	for _, s := range []struct {
		left  time.Duration
		err   error
		knows bool
	}{
		{0, errTimeout, true},
		{-time.Second, errTimeout, true},
		{time.Hour, errTimeout, false},
		{0, errAway, false},
		{0, context.Canceled, false},
	} {
		c := newCached()
		c.exhaust(t, ten)
		c.clock.Advance(time.Second)
		c.next.fail(s.err)
		_, err := c.Take(hurried{t.Context(), time.Now().Add(s.left)}, core.Request{Key: ana, Limits: ten, Cost: 1})
		require.ErrorIs(t, err, s.err)
		c.next.fail(nil)
		asks := c.asks(func() { require.False(t, charge(t, c, ten, 1).Allowed) })
		require.Equal(t, s.knows, asks == 0, "%v, %v left", s.err, s.left)
	}
}
