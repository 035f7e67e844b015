package denystore_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/denystore"
	"github.com/tierlimit/tierlimit/memstore"
)

// TestAPanicOfTheNextStoreLeavesNoClaim: what fits is let in at once.
func TestAPanicOfTheNextStoreLeavesNoClaim(t *testing.T) {
	t.Parallel()
	c := newCached(anHour)
	c.exhaust(t, ten)
	c.clock.Advance(6 * time.Second)
	c.next.before = func() { panic("next") }
	require.PanicsWithValue(t, "next", func() { charge(t, c, ten, 1) }, "it is handed on")
	c.next.before = nil
	require.True(t, charge(t, c, ten, 1).Allowed)
}

// TestAPanicOfTheNextStoreForgetsAsAnErrorDoes: it was to confirm a refusal that is
// of age.
func TestAPanicOfTheNextStoreForgetsAsAnErrorDoes(t *testing.T) {
	t.Parallel()
	c := newCached()
	c.exhaust(t, ten)
	c.clock.Advance(time.Second)
	c.next.before = func() { panic("next") }
	require.Panics(t, func() { charge(t, c, ten, 1) })
	c.next.before = nil
	require.Equal(t, 1, c.asks(func() { charge(t, c, ten, 1) }))
}

// TestAGiveBackThatPanicsForgets: the next store may have given back before.
func TestAGiveBackThatPanicsForgets(t *testing.T) {
	t.Parallel()
	for _, undo := range []bool{false, true} {
		c := newCached(anHour)
		c.exhaust(t, ten)
		c.next.after = func() { panic("next") }
		require.Panics(t, func() {
			take(t, c, core.Request{Key: ana, Limits: ten, Cost: -1, Mode: core.Force, Undo: undo})
		})
		c.next.after = nil
		require.True(t, charge(t, c, ten, 1).Allowed, "undo: %t", undo)
	}
}

// dropping is a store that panics once it has reset a key.
type dropping struct{ core.Store }

func (s dropping) Reset(ctx context.Context, key core.Key, limits []core.Limit) error {
	_ = s.Store.Reset(ctx, key, limits)
	panic("next")
}

func TestAResetThatPanicsForgets(t *testing.T) {
	t.Parallel()
	s := denystore.New(dropping{memstore.New()})
	take(t, s, core.Request{Key: ana, Limits: day, Cost: 10, Mode: core.Force})
	require.False(t, charge(t, s, day, 1).Allowed)
	require.Panics(t, func() { _ = s.Reset(t.Context(), ana, day) })
	require.True(t, charge(t, s, day, 1).Allowed)
}
