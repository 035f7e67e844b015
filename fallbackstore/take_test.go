package fallbackstore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fallbackstore"
	"github.com/tierlimit/tierlimit/memstore"
	"github.com/tierlimit/tierlimit/redisstore"
)

func TestAnyErrorOfThePrimaryIsAnsweredLocally(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		errAway, io.EOF, redisstore.ErrTimeout, redisstore.ErrUnreachable, redisstore.ErrRefused,
		redisstore.ErrBusy, redisstore.ErrPaused, redisstore.ErrReply,
		// Nobody's context has ended: these are the primary's own.
		context.DeadlineExceeded, context.Canceled, fmt.Errorf("%w: %w", redisstore.ErrTimeout, context.DeadlineExceeded),
	} {
		p := newPair()
		p.primary.fail(err)
		for i := range 10 {
			res := charge(t, p, ten, 1)
			require.True(t, res.Allowed && res.Degraded, "%v", err)
			require.Equal(t, 9-i, res.Levels[0].Remaining)
		}
		res := charge(t, p, ten, 1)
		require.False(t, res.Allowed, "the limit goes on")
		require.True(t, res.Degraded)
		require.Equal(t, 10, p.primary.left(t, ten), "and the primary took nothing")
		require.Len(t, p.primary.requests(), 11, "which is asked first every time")
	}
}

func TestAHealthyPrimaryIsTheOnlyOneAsked(t *testing.T) {
	t.Parallel()
	p := newPair()
	for _, r := range []core.Request{
		{Key: ana, Limits: ten, Cost: 1},
		{Key: ana, Limits: ten, Cost: 0},
		{Key: ana, Limits: ten, Cost: 10},
		{Key: ana, Limits: ten, Cost: 1, Mode: core.Look},
		{Key: ana, Limits: ten, Cost: 3, Mode: core.Force},
		{Key: ana, Limits: ten, Cost: -3, Mode: core.Force},
		{Key: ana, Limits: ten, Cost: -1, Mode: core.Force, Undo: true},
	} {
		require.False(t, take(t, p, r).Degraded)
		require.Equal(t, []core.Request{r}, p.primary.requests(), "as it is")
	}
	require.Empty(t, p.local.requests())
}

func TestLimitsThatThePrimaryDoesNotSupportAreNotServedLocally(t *testing.T) {
	t.Parallel()
	p := newPair()
	p.primary.fail(fmt.Errorf("sliding log: %w", core.ErrUnsupported))
	_, err := p.Take(t.Context(), core.Request{Key: ana, Limits: ten, Cost: 1})
	require.ErrorIs(t, err, core.ErrUnsupported)
	require.Empty(t, p.local.requests())
	require.Equal(t, fallbackstore.StateShared, p.State())
}

func TestAGiveBackOfWhatThePrimaryTookNeverReachesTheLocalStore(t *testing.T) {
	t.Parallel()
	for _, undo := range []bool{false, true} {
		p := newPair()
		charge(t, p, ten, 4)
		p.primary.fail(errAway)
		_, err := p.Take(t.Context(), core.Request{Key: ana, Limits: ten, Cost: -4, Mode: core.Force, Undo: undo})
		require.ErrorIs(t, err, errAway)
		require.Empty(t, p.local.requests())
		require.Equal(t, fallbackstore.StateDegraded, p.State(), "but it tells that the primary is away")
	}
}

func TestEveryCorrectionOfADegradedChargeGoesToTheLocalStore(t *testing.T) {
	t.Parallel()
	for _, away := range []bool{true, false} {
		for _, r := range []core.Request{
			{Cost: 2, Mode: core.Charge},
			{Cost: 0, Mode: core.Charge},
			{Cost: 2, Mode: core.Look},
			{Cost: 2, Mode: core.Force},
			{Cost: -2, Mode: core.Force},
			{Cost: -2, Mode: core.Force, Undo: true},
		} {
			p := newPair(fallbackstore.WithShare(0.5))
			if away {
				p.primary.fail(errAway)
			}
			before := p.State()
			r.Key, r.Limits, r.Degraded = ana, ten, true
			require.True(t, take(t, p, r).Degraded)
			require.Empty(t, p.primary.requests())
			r.Limits = core.PerMinute(5).Limits()
			require.Equal(t, []core.Request{r}, p.local.requests(), "as it is, but for the share")
			require.Equal(t, before, p.State(), "and says nothing of the primary")
		}
	}
}

func TestWhenBothFailBothAreTold(t *testing.T) {
	t.Parallel()
	errFull := errors.New("disk is full")
	p := newPair()
	p.primary.fail(errAway)
	p.local.fail(errFull)
	_, err := p.Take(t.Context(), core.Request{Key: ana, Limits: ten, Cost: 1})
	require.ErrorIs(t, err, errAway)
	require.ErrorIs(t, err, errFull)
	require.ErrorContains(t, err, "fallbackstore: ")

	_, err = p.Take(t.Context(), core.Request{Key: ana, Limits: ten, Cost: 1, Degraded: true})
	require.ErrorIs(t, err, errFull)
	require.NotErrorIs(t, err, errAway, "which was not asked")
}

func TestResetReachesBoth(t *testing.T) {
	t.Parallel()
	errFull := errors.New("disk is full")
	five := core.PerMinute(5).Limits()
	p := newPair(fallbackstore.WithShare(0.5))
	charge(t, p, ten, 6)
	p.primary.fail(errAway)
	charge(t, p, ten, 3)
	require.Equal(t, 4, p.primary.left(t, ten))
	require.Equal(t, 2, p.local.left(t, five))

	require.ErrorIs(t, p.Reset(t.Context(), ana, ten), errAway)
	require.Equal(t, 5, p.local.left(t, five), "whatever the primary says")
	charge(t, p, ten, 3)
	p.primary.fail(nil)
	p.local.fail(errFull)
	require.ErrorIs(t, p.Reset(t.Context(), ana, ten), errFull)
	require.Equal(t, 10, p.primary.left(t, ten), "and the other way round")

	p.primary.fail(errAway)
	err := p.Reset(t.Context(), ana, ten)
	require.ErrorIs(t, err, errAway)
	require.ErrorIs(t, err, errFull)

	p.primary.fail(nil)
	p.local.fail(nil)
	require.NoError(t, p.Reset(t.Context(), ana, ten))
	require.Equal(t, 5, p.local.left(t, five))
}

func TestWiringFaultsPanic(t *testing.T) {
	t.Parallel()
	require.PanicsWithValue(t, "fallbackstore: New needs two stores", func() { fallbackstore.New(nil, memstore.New()) })
	require.PanicsWithValue(t, "fallbackstore: New needs two stores", func() { fallbackstore.New(memstore.New(), nil) })
}
