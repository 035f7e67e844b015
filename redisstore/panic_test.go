package redisstore

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// panicking is a client with a hook that panics.
type panicking struct{ rueidis.Client }

func (panicking) Do(context.Context, rueidis.Completed) rueidis.RedisResult { panic("a hook") }

// panicsOnceItIsAsked asks until the breaker lets it: then the client's panic
// comes through, and nothing else.
func panicsOnceItIsAsked(t *testing.T, ask func() error) {
	t.Helper()
	require.Eventually(t, func() (panicked bool) {
		defer func() {
			if v := recover(); v != nil {
				assert.Equal(t, "a hook", v)
				panicked = true
			}
		}()
		assert.ErrorIs(t, ask(), ErrPaused)
		return false
	}, 10*time.Second, time.Millisecond)
}

// TestAPanicOfTheClientIsOneFailure: it goes to whoever asked, and no place in
// flight, probe or lane is lost.
func TestAPanicOfTheClientIsOneFailure(t *testing.T) {
	t.Parallel()
	good := miniClient(t)
	s := New(panicking{good}, WithBreaker(2, time.Millisecond), WithTimeout(time.Minute))
	lone, log := core.Per(1, time.Hour).WithBurst(10).Limits(), core.PerHour(9).Using(core.SlidingLog).Limits()
	key := core.Key{Tier: "t", ID: "a"}
	for _, limits := range [][]core.Limit{lone, log, core.PerHour(9).And(core.PerDay(99)).Limits()} {
		panicsOnceItIsAsked(t, func() error {
			_, err := s.Take(t.Context(), core.Request{Key: key, Limits: limits, Cost: 1})
			return err
		})
		require.Zero(t, s.guard.inFlight.Load())
	}
	panicsOnceItIsAsked(t, func() error { return s.Reset(t.Context(), key, lone) })
	require.Nil(t, s.lanes.place(s.RedisKey(key, lone)).Load())

	// In goroutines of the store it is an error of all that wait.
	l := &lane{call: call{key: [1]string{"k"}}, set: s.sets.of(lone)}
	r := l.enqueue(t.Context(), 1)
	s.carry(l, panicking{good})
	require.ErrorContains(t, (<-r.answer).err, "a hook")
	soon, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var err error
	require.Eventually(t, func() bool {
		_, err = s.Take(soon, core.Request{Key: key, Limits: lone, Cost: 1})
		return !errors.Is(err, ErrPaused)
	}, 10*time.Second, time.Millisecond)
	require.ErrorContains(t, err, "a hook")

	s.connect(good)
	require.Eventually(t, func() bool {
		_, err := s.Take(t.Context(), core.Request{Key: key, Limits: lone, Cost: 1})
		return err == nil
	}, 10*time.Second, time.Millisecond)
	require.Equal(t, StateClosed, s.State())
}
