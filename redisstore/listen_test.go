package redisstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// TestARedisThatForgotAllIsHeard: callers with little time have filled the cap,
// and what is asked to find out whether Redis is back holds no bucket.
func TestARedisThatForgotAllIsHeard(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := redisstore.New(server.Client(t), redisstore.WithMaxInFlight(20))
	answers(t, s)
	server.Freeze(t)
	redistest.Wait(t, patient, "the cap", func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond) //nolint:usetesting // as callers do
		defer cancel()
		_, err := s.Take(ctx, core.Request{Key: user(1), Limits: plenty, Cost: 1})
		return unless(err, redisstore.ErrBusy)
	})
	server.Thaw(t)
	server.Do(t, "FLUSHALL")
	redistest.Wait(t, 5*time.Second, "an answer", func() error { return ask(s) })
	require.Equal(t, redisstore.StateClosed, s.State())
}
