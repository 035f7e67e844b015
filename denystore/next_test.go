package denystore_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/denystore"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/memstore"
)

var errAway = errors.New("redis is away")

// counted is a store that counts what it is asked, and fails when it is told to.
type counted struct {
	core.Store

	calls  atomic.Int64
	err    atomic.Pointer[error]
	before func() // of every Take
	after  func()
}

func (s *counted) fail(err error) { s.err.Store(&err) }

func (s *counted) Take(ctx context.Context, r core.Request) (core.Result, error) {
	s.calls.Add(1)
	if s.before != nil {
		s.before()
	}
	if err := s.err.Load(); err != nil && *err != nil {
		return core.Result{}, *err
	}
	res, err := s.Store.Take(ctx, r)
	if s.after != nil {
		s.after()
	}
	return res, err
}

// cached is a deny store over a counted one, on one clock.
type cached struct {
	*denystore.Store

	next  *counted
	clock *fakeclock.Clock
}

func newCached(opts ...denystore.Option) cached {
	clock := fakeclock.New(time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC))
	next := &counted{Store: memstore.New(memstore.WithClock(clock))}
	return cached{denystore.New(next, append([]denystore.Option{denystore.WithClock(clock)}, opts...)...), next, clock}
}

var (
	ana = core.Key{Tier: "free", ID: "ana"}
	ten = core.PerMinute(10).Limits()

	anHour = denystore.WithMaxAge(time.Hour)
)

func take(tb testing.TB, s core.Store, r core.Request) core.Result {
	tb.Helper()
	res, err := s.Take(context.Background(), r) //nolint:usetesting // also in goroutines
	require.NoError(tb, err)
	return res
}

func charge(tb testing.TB, s core.Store, limits []core.Limit, cost int) core.Result {
	tb.Helper()
	return take(tb, s, core.Request{Key: ana, Limits: limits, Cost: cost})
}

// asks tells how often f asked the next store.
func (c cached) asks(f func()) int {
	was := c.next.calls.Load()
	f()
	return int(c.next.calls.Load() - was)
}

// exhaust spends all that ana has and has her refused once.
func (c cached) exhaust(tb testing.TB, limits []core.Limit) core.Result {
	tb.Helper()
	take(tb, c, core.Request{Key: ana, Limits: limits, Cost: 1 << 20, Mode: core.Force})
	res := charge(tb, c, limits, 1)
	require.False(tb, res.Allowed)
	return res
}

// together runs n goroutines that begin at the same moment, and waits for them.
func together(n int, f func(worker int)) {
	var wg sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-gate
			f(i)
		})
	}
	close(gate)
	wg.Wait()
}

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

// climb has so many ask upon one another, one each step, and somebody refused
// beside the first.
func (c cached) climb(t *testing.T, limits []core.Limit, n int, step time.Duration, then func()) {
	t.Helper()
	refuse := func() { require.False(t, charge(t, c, limits, 1).Allowed) }
	var climb func(n int)
	climb = func(n int) {
		if n == 0 {
			then()
			return
		}
		c.clock.Advance(step)
		c.asking(func() { charge(t, c, limits, 1) }, func() {
			refuse()
			refuse = func() {}
			climb(n - 1)
		})
	}
	climb(n)
}
