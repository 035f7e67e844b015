package denystore_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

var day = core.PerDay(10).Limits()

// askAndLeave is a charge whose caller is gone by the time that it is answered.
func (c cached) askAndLeave(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.next.fail(context.Canceled)
	_, err := c.Take(ctx, core.Request{Key: ana, Limits: day, Cost: 1})
	require.ErrorIs(t, err, context.Canceled)
	c.next.fail(nil)
}

// TestHangUpsKeepARefusalForTwoAges and no longer: whoever is the one to ask is
// gone before the answer, and another instance has made room.
func TestHangUpsKeepARefusalForTwoAges(t *testing.T) {
	t.Parallel()
	c := newCached()
	c.exhaust(t, day)
	require.NoError(t, c.next.Store.Reset(t.Context(), ana, day)) // another instance
	c.clock.Advance(time.Second)
	c.askAndLeave(t)
	for range 5 {
		require.False(t, charge(t, c, day, 1).Allowed)
	}
	c.clock.Advance(time.Second)
	c.askAndLeave(t)
	for range 5 {
		require.True(t, charge(t, c, day, 1).Allowed)
	}
}

// TestWhileTheStoreNeverAnswersARefusalLastsTwoAges: all callers are more hurried
// than the store, so it never fails.
func TestWhileTheStoreNeverAnswersARefusalLastsTwoAges(t *testing.T) {
	t.Parallel()
	c := newCached()
	c.exhaust(t, day)
	c.next.fail(context.DeadlineExceeded)
	for second := 1; second <= 60; second++ {
		c.clock.Advance(time.Second)
		fromMemory := 0
		for range 5 {
			if _, err := c.Take(hurried{t.Context(), time.Now()}, core.Request{Key: ana, Limits: day, Cost: 1}); err == nil {
				fromMemory++
			}
		}
		if second == 1 {
			require.Equal(t, 4, fromMemory, "beside the one who asks")
		} else {
			require.Zero(t, fromMemory, "second %d", second)
		}
	}
}

// TestTwoHangUpsKeepNoClaim: the one who claimed is gone, and so is the one who was
// to find out whether it is charged.
func TestTwoHangUpsKeepNoClaim(t *testing.T) {
	t.Parallel()
	c := newCached()
	c.exhaust(t, day)
	c.clock.Advance(24 * time.Hour / 10)
	c.askAndLeave(t)
	c.askAndLeave(t)
	c.clock.Advance(900 * time.Millisecond)
	require.True(t, charge(t, c, day, 1).Allowed, "nothing is charged, so the unit is there")
}
