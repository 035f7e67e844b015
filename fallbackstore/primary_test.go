package fallbackstore_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/fallbackstore"
	"github.com/tierlimit/tierlimit/memstore"
)

var errAway = errors.New("redis is away")

// scripted is a store that fails when it is told to, and notes what it was
// asked.
type scripted struct {
	core.Store

	err    atomic.Pointer[error]
	mu     sync.Mutex
	asked  []core.Request
	resets int
}

func script(next core.Store) *scripted { return &scripted{Store: next} }

// fail has every call answered with err; nil ends that.
func (s *scripted) fail(err error) { s.err.Store(&err) }

func (s *scripted) failure() error {
	if err := s.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (s *scripted) Take(ctx context.Context, r core.Request) (core.Result, error) {
	s.mu.Lock()
	s.asked = append(s.asked, r)
	s.mu.Unlock()
	if err := s.failure(); err != nil {
		return core.Result{}, err
	}
	return s.Store.Take(ctx, r)
}

func (s *scripted) Reset(ctx context.Context, key core.Key, limits []core.Limit) error {
	s.mu.Lock()
	s.resets++
	s.mu.Unlock()
	if err := s.failure(); err != nil {
		return err
	}
	return s.Store.Reset(ctx, key, limits)
}

// requests are those since the last call.
func (s *scripted) requests() []core.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

// pair is a fallback store over two scripted ones that share a clock.
type pair struct {
	*fallbackstore.Store

	clock          *fakeclock.Clock
	primary, local *scripted
}

func newPair(opts ...fallbackstore.Option) pair {
	clock := fakeclock.New(time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC))
	p := pair{
		clock:   clock,
		primary: script(memstore.New(memstore.WithClock(clock))),
		local:   script(memstore.New(memstore.WithClock(clock))),
	}
	p.Store = fallbackstore.New(p.primary, p.local, opts...)
	return p
}

var (
	ana = core.Key{Tier: "free", ID: "ana"}
	ten = core.PerMinute(10).Limits()
)

func take(tb testing.TB, s core.Store, r core.Request) core.Result {
	tb.Helper()
	res, err := s.Take(context.Background(), r) //nolint:usetesting // also in a goroutine that outlives the test's context
	require.NoError(tb, err)
	return res
}

func charge(tb testing.TB, s core.Store, limits []core.Limit, cost int) core.Result {
	tb.Helper()
	return take(tb, s, core.Request{Key: ana, Limits: limits, Cost: cost})
}

// left is what stands for ana in one of the two stores, and notes nothing.
func (s *scripted) left(tb testing.TB, limits []core.Limit) int {
	tb.Helper()
	return take(tb, s.Store, core.Request{Key: ana, Limits: limits, Cost: 1, Mode: core.Look}).Levels[0].Remaining
}
