package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
)

// start is where every clock begins: 14 s into a minute, 4 s into ten seconds.
var start = time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC)

// opener is what the caller of Run gave.
type opener func(tb testing.TB, c *fakeclock.Clock) core.Store

// open gives an empty store and its clock.
func (o opener) open(tb testing.TB) subject {
	tb.Helper()
	clock := fakeclock.New(start)
	store := o(tb, clock)
	require.NotNil(tb, store, "open gives a store")
	return subject{store: store, clock: clock}
}

// subject is a store under test and the clock that it judges by.
type subject struct {
	store core.Store
	clock *fakeclock.Clock
}

// take asks the store. An error ends the test: none of these questions has a
// reason to fail.
func (s subject) take(tb testing.TB, r core.Request) core.Result {
	tb.Helper()
	res, err := s.store.Take(tb.Context(), r)
	if err != nil {
		s.supported(tb, r.Limits, err)
		tb.Fatalf("Take: %s under %s: %v", op{r.Mode, r.Cost}, limitsText(r.Limits), err)
	}
	return res
}

// charge and look ask for cost units of key.
func (s subject) charge(tb testing.TB, key core.Key, limits []core.Limit, cost int) core.Result {
	tb.Helper()
	return s.take(tb, core.Request{Key: key, Limits: limits, Cost: cost})
}

func (s subject) look(tb testing.TB, key core.Key, limits []core.Limit, cost int) core.Result {
	tb.Helper()
	return s.take(tb, core.Request{Key: key, Limits: limits, Cost: cost, Mode: core.Look})
}

func (s subject) reset(tb testing.TB, key core.Key, limits []core.Limit) {
	tb.Helper()
	if err := s.store.Reset(tb.Context(), key, limits); err != nil {
		s.supported(tb, limits, err)
		tb.Fatalf("Reset under %s: %v", limitsText(limits), err)
	}
}

// supported skips the rest of a subtest whose limits the store does not know.
func (subject) supported(tb testing.TB, limits []core.Limit, err error) {
	tb.Helper()
	if !errors.Is(err, core.ErrUnsupported) {
		return
	}
	if len(limits) == 1 && limits[0].Algorithm == core.GCRA {
		tb.Fatalf("a store must know a single GCRA window: %v", err)
	}
	tb.Skipf("the store does not support %s: %v", limitsText(limits), err)
}
