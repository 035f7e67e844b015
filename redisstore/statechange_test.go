package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// unless is nil for the error that is waited for.
func unless(err, want error) error {
	if errors.Is(err, want) {
		return nil
	}
	return fmt.Errorf("%w instead of %w", err, want)
}

// TestAPanicOfWhoIsToldDoesNoHarm: neither to the check that told, be it in a
// goroutine of the store, nor to the breaker.
func TestAPanicOfWhoIsToldDoesNoHarm(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := redisstore.New(server.Client(t), redisstore.WithBreaker(1, 50*time.Millisecond), redisstore.WithStateChange(func(redisstore.State) {
		panic("metrics are not ready")
	}))
	answers(t, s)
	for _, hurry := range []bool{false, true} {
		server.Freeze(t)
		redistest.Wait(t, patient, "the breaker to open", func() error {
			ctx, cancel := context.WithCancel(context.Background()) //nolint:usetesting // as callers do
			if hurry {
				ctx, cancel = context.WithTimeout(ctx, 99*time.Millisecond)
			}
			defer cancel()
			_, err := s.Take(ctx, core.Request{Key: user(1), Limits: plenty, Cost: 1})
			if !hurry {
				return unless(err, redisstore.ErrPaused)
			}
			return nil // who gave less time than the store counts for nothing
		})
		server.Thaw(t)
		redistest.Wait(t, 5*time.Second, "an answer", func() error { return ask(s) })
		require.Equal(t, redisstore.StateClosed, s.State())
	}
}
