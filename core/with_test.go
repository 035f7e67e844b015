package core_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

func TestScopeHasBucketsOfItsOwn(t *testing.T) {
	t.Parallel()
	r := newRig(t, only("free", core.PerMinute(1)))
	reports := r.with(t, core.WithScope("reports"))
	same := r.with(t, core.WithScope("reports"))
	unscoped, err := reports.With(core.WithScope(""))
	require.NoError(t, err)
	require.True(t, r.Take(t.Context(), ana, 1).Allowed())
	require.True(t, reports.Take(t.Context(), ana, 1).Allowed())
	require.False(t, same.Take(t.Context(), ana, 1).Allowed())
	require.False(t, unscoped.Take(t.Context(), ana, 1).Allowed())
	child, err := reports.With(core.OnMissing(core.Deny(401)))
	require.NoError(t, err)
	require.False(t, child.Take(t.Context(), ana, 1).Allowed())
	require.Equal(t, "reports", r.store.last(t).Key.Scope)
}

func TestChildKeepsTheOptionsOfItsParentAndChangesNoneOfThem(t *testing.T) {
	t.Parallel()
	var parent, child int
	r := newRig(t, threeTiers(), core.OnMissing(core.Deny(401)), core.WithObserver(func(context.Context, core.Event) { parent++ }))
	one := r.with(t, core.OnUnknownTier(core.Deny(402)), core.WithObserver(func(context.Context, core.Event) { child++ }))
	two := r.with(t, core.OnMissing(core.Allow), core.WithObserver(func(context.Context, core.Event) {}))
	require.Equal(t, 401, one.Take(t.Context(), core.Identity{}, 1).Status())
	require.Equal(t, 402, one.Take(t.Context(), core.Identity{Key: "k", Tier: "gold"}, 1).Status())
	require.Equal(t, 200, two.Take(t.Context(), core.Identity{}, 1).Status())
	require.Equal(t, 401, r.Take(t.Context(), core.Identity{}, 1).Status())
	require.Equal(t, 200, r.Take(t.Context(), core.Identity{Key: "k", Tier: "gold"}, 1).Status())
	require.Equal(t, 5, parent)
	require.Equal(t, 2, child)
	_, err := r.With(core.OnMissing(core.Policy{}), core.WithScope("\x01"))
	require.Len(t, faults(err), 2)
}
