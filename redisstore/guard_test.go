package redisstore

import (
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTheLastStateToldIsTheOneThatHolds: breakers of several ranges open and
// close beside each other, and whoever is told must not be left with a state
// of the past.
func TestTheLastStateToldIsTheOneThatHolds(t *testing.T) {
	t.Parallel()
	changes := 0
	for range 300 {
		var mu sync.Mutex
		told := []State{StateClosed} // as it begins
		g := newGuard(newOptions([]Option{WithBreaker(1, time.Nanosecond), WithStateChange(func(s State) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, s)
		})}))
		var wg sync.WaitGroup
		for _, b := range g.breakers[:4] {
			wg.Go(func() {
				for range 20 {
					if ticket, ok := b.enter(); ok {
						b.leave(ticket, false, true)
					}
					if ticket, ok := b.enter(); ok {
						b.leave(ticket, true, false)
					}
				}
				for State(b.state.Load()) != StateClosed {
					if ticket, ok := b.enter(); ok {
						b.leave(ticket, true, false)
					}
				}
			})
		}
		wg.Wait()
		require.Equal(t, StateClosed, g.state())
		require.Equal(t, StateClosed, told[len(told)-1])
		for i, state := range told[1:] {
			require.NotEqual(t, told[i], state, "a change is told once")
		}
		changes += len(told) - 1
	}
	require.Greater(t, changes, 300)
}

// TestEachStateIsToldInTurn through one range, and the worst of two.
func TestEachStateIsToldInTurn(t *testing.T) {
	t.Parallel()
	var told []State
	g := newGuard(newOptions([]Option{WithBreaker(1, time.Hour), WithStateChange(func(s State) { told = append(told, s) })}))
	one, two := g.breakers[0], g.breakers[1]
	fail(t, one)
	fail(t, two) // is open beside an open one
	require.Equal(t, []State{StateOpen}, told)
	for _, b := range []*breaker{one, two} {
		b.base = b.base.Add(-2 * time.Hour)
		probe, ok := b.enter()
		require.True(t, ok)
		b.leave(probe, true, false)
	}
	require.Equal(t, []State{StateOpen, StateHalfOpen, StateClosed}, told, "half open once the worst is")
}

// TestChecksThatTheirCallersGaveUpStayInFlight: they hold a place in the
// connection's ring until Redis answers, and a full ring knows no deadline.
func TestChecksThatTheirCallersGaveUpStayInFlight(t *testing.T) {
	t.Parallel()
	g := newGuard(newOptions([]Option{WithMaxInFlight(10), WithBreaker(3, time.Hour)}))
	b := g.breakers[0]
	for range 10 {
		p, err := g.enter(t.Context(), b)
		require.NoError(t, err)
		require.ErrorIs(t, p.leave(context.DeadlineExceeded, true), ErrTimeout)
	}
	require.Zero(t, g.inFlight.Load())
	require.Equal(t, StateClosed, g.state(), "who is gone counts for nothing")
	_, err := g.enter(t.Context(), b)
	require.ErrorIs(t, err, ErrBusy)
	_, err = g.enter(t.Context(), g.breakers[1])
	require.NoError(t, err, "what one range of slots owes does not stop another")

	require.False(t, b.mayListen(), "not so soon")
	b.base = b.base.Add(-2 * time.Hour)
	require.True(t, b.mayListen())
	require.False(t, b.mayListen(), "once in a cool-down")
	b.leave(ticket{}, true, false)
	_, err = g.enter(t.Context(), b)
	require.NoError(t, err, "an answer says that the ring moves")
}

func TestABrokenConnectionCountsWhoeverIsGone(t *testing.T) {
	t.Parallel()
	g := newGuard(newOptions([]Option{WithBreaker(1, time.Hour)}))
	p, err := g.enter(t.Context(), g.breakers[0])
	require.NoError(t, err)
	require.ErrorIs(t, p.leave(io.EOF, true), ErrUnreachable)
	require.Equal(t, StateOpen, g.state())
}

// TestAHurriedCallersCheckGoesOn: its answer is heard.
func TestAHurriedCallersCheckGoesOn(t *testing.T) {
	t.Parallel()
	g := newGuard(newOptions(nil))
	g.breakers[0].row.Store(3)
	p, err := g.enter(t.Context(), g.breakers[0])
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	answer := make(chan struct{})
	_, err = hurry(ctx, p, func() (int, error) { <-answer; return 1, nil })
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, ErrTimeout)
	require.EqualValues(t, 1, g.inFlight.Load())
	close(answer)
	require.Eventually(t, func() bool { return g.inFlight.Load() == 0 && g.breakers[0].row.Load() == 0 }, 10*time.Second, time.Millisecond)
}
