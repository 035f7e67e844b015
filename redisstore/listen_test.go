package redisstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// TestARedisWithoutTheBucketIsHeard: callers with little time have filled the cap,
// and what is asked to find out whether Redis is back holds no bucket.
func TestARedisWithoutTheBucketIsHeard(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := redisstore.New(server.Client(t), redisstore.WithMaxInFlight(20))
	answers(t, s)
	server.Freeze(t)
	var full time.Time
	redistest.Wait(t, patient, "the cap to be full of calls that are over", func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond) //nolint:usetesting // as callers do
		defer cancel()
		_, err := s.Take(ctx, core.Request{Key: user(1), Limits: plenty, Cost: 1})
		if err := unless(err, redisstore.ErrBusy); err != nil {
			return err
		}
		if full.IsZero() {
			full = time.Now()
		}
		if time.Since(full) < 400*time.Millisecond {
			return errors.New("some may still be answered")
		}
		return nil
	})
	server.Thaw(t)
	redistest.Wait(t, 5*time.Second, "an answer", func() error {
		_, err := s.Take(t.Context(), core.Request{Key: user(2), Limits: plenty, Cost: 1}) // who has no bucket yet
		return err
	})
	require.Equal(t, redisstore.StateClosed, s.State())
}
