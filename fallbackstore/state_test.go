package fallbackstore_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fallbackstore"
	"github.com/tierlimit/tierlimit/redisstore"
)

// told notes what a store tells of its state.
type told struct {
	mu     sync.Mutex
	states []fallbackstore.State
}

func (c *told) note(s fallbackstore.State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.states = append(c.states, s)
}

const (
	shared   = fallbackstore.StateShared
	degraded = fallbackstore.StateDegraded
)

func TestAChangeIsToldOnceEachWay(t *testing.T) {
	t.Parallel()
	var c told
	p := newPair(fallbackstore.WithStateChange(c.note))
	plenty := core.PerMinute(1000).Limits()
	for range 3 {
		for range 10 {
			charge(t, p, plenty, 1)
		}
		require.Equal(t, shared, p.State())
		p.primary.fail(errAway)
		for range 10 {
			charge(t, p, plenty, 1)
		}
		require.Equal(t, degraded, p.State())
		p.primary.fail(nil)
	}
	charge(t, p, plenty, 1)
	require.Equal(t, []fallbackstore.State{degraded, shared, degraded, shared, degraded, shared}, c.states)
}

// TestWithoutSomebodyToTellTheStateIsKept: the option may be left out.
func TestWithoutSomebodyToTellTheStateIsKept(t *testing.T) {
	t.Parallel()
	p := newPair()
	require.Equal(t, shared, p.State(), "at first")
	p.primary.fail(errAway)
	charge(t, p, ten, 1)
	require.Equal(t, degraded, p.State())
	p.primary.fail(nil)
	charge(t, p, ten, 1)
	require.Equal(t, shared, p.State())
}

// TestARefusalDoesNotTellThatThePrimaryIsBack: it may come from a memory of
// refusals, and a Redis that cannot write, a replica or a full one, refuses all
// the same. Every one of them would be a change otherwise, and back again.
func TestARefusalDoesNotTellThatThePrimaryIsBack(t *testing.T) {
	t.Parallel()
	var c told
	p := newPair(fallbackstore.WithStateChange(c.note))
	one := core.PerMinute(1).Limits()
	require.True(t, charge(t, p, one, 1).Allowed)
	for range 10 {
		p.primary.fail(redisstore.ErrRefused)
		charge(t, p, one, 1)
		p.primary.fail(nil)
		for _, r := range []core.Request{
			{Cost: 1},
			{Cost: 0},
			{Cost: 1, Mode: core.Look},
			{Cost: -1, Mode: core.Force, Undo: true, Degraded: true},
		} {
			r.Key, r.Limits = ana, one
			take(t, p, r)
			require.Equal(t, degraded, p.State())
		}
	}
	p.clock.Advance(time.Minute)
	charge(t, p, one, 1)
	require.Equal(t, []fallbackstore.State{degraded, shared}, c.states)
}

// TestWhoIsToldLastKnowsTheState: while many callers meet a primary that comes
// and goes, each change is told once, in order, one at a time.
func TestWhoIsToldLastKnowsTheState(t *testing.T) {
	t.Parallel()
	var (
		changes, inside atomic.Int64
		last            atomic.Uint32
		p               pair
	)
	p = newPair(fallbackstore.WithStateChange(func(s fallbackstore.State) {
		if inside.Add(1) != 1 || last.Swap(uint32(s)) == uint32(s) {
			t.Error("a change was told by two at a time, or twice")
		}
		changes.Add(1)
		runtime.Gosched()
		_ = p.State() // with no lock held
		inside.Add(-1)
	}))
	plenty := core.Per(1, time.Minute).WithBurst(1 << 26).Limits()
	for range 20 {
		var wg sync.WaitGroup
		for worker := range 8 {
			wg.Go(func() {
				for i := range 200 {
					if worker == 0 {
						p.primary.fail([]error{errAway, nil}[i%2])
					}
					if _, err := p.Take(t.Context(), core.Request{Key: ana, Limits: plenty, Cost: 1}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		require.Equal(t, uint32(p.State()), last.Load())
	}
	require.Positive(t, changes.Load())
}

// TestWhoIsToldMayAskTheStore: also when that is a change again.
func TestWhoIsToldMayAskTheStore(t *testing.T) {
	t.Parallel()
	var (
		c told
		p pair
	)
	p = newPair(fallbackstore.WithStateChange(func(s fallbackstore.State) {
		c.note(s)
		if s == degraded {
			p.primary.fail(nil)
			charge(t, p, ten, 1)
		}
	}))
	p.primary.fail(errAway)
	charge(t, p, ten, 1)
	require.Equal(t, []fallbackstore.State{degraded, shared}, c.states)
}

// TestAPanicOfWhoIsToldIsNotTheLastWord: the next change is told, and the answer,
// which has charged somebody already, is given.
func TestAPanicOfWhoIsToldIsNotTheLastWord(t *testing.T) {
	t.Parallel()
	var c told
	p := newPair(fallbackstore.WithStateChange(func(s fallbackstore.State) {
		c.note(s)
		if s == degraded {
			panic("no log")
		}
	}))
	p.primary.fail(errAway)
	require.True(t, charge(t, p, ten, 1).Allowed)
	p.primary.fail(nil)
	charge(t, p, ten, 1)
	require.Equal(t, []fallbackstore.State{degraded, shared}, c.states)
}

func TestStatesAreLabels(t *testing.T) {
	t.Parallel()
	require.Equal(t, "shared", shared.String())
	require.Equal(t, "degraded", degraded.String())
	require.Equal(t, "State(7)", fallbackstore.State(7).String())
}
