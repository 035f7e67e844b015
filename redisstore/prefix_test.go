package redisstore_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// TestAUserOfOnePrefixMayDoAll, also listen for a Redis whose callers all gave
// up before it answered.
func TestAUserOfOnePrefixMayDoAll(t *testing.T) {
	t.Parallel()
	g := documented(t)
	server := redistest.Start(t, g.under("acme:rl:*", slices.Concat(g.all, g.logs)))
	client := server.Client(t, g.as())
	monitor := server.Monitor(t)
	prefix := redisstore.WithPrefix("acme:rl:")
	s := anyRedis{client, true}.store(prefix)
	require.NoError(t, s.Ready(t.Context()))
	everything(t, s, core.Key{Scope: "login", Tier: "free", ID: "ana"})

	s = redisstore.New(client, prefix, redisstore.WithTimeout(50*time.Millisecond), redisstore.WithMaxInFlight(2), redisstore.WithBreaker(5, time.Millisecond))
	answers(t, s)
	server.Freeze(t)
	began := time.Now()
	redistest.Wait(t, patient, "the cap to be full of callers who are gone", func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err := s.Take(ctx, core.Request{Key: user(1), Limits: plenty, Cost: 1})
		if errors.Is(err, redisstore.ErrBusy) && time.Since(began) > 300*time.Millisecond {
			return nil
		}
		return err
	})
	server.Thaw(t)
	answers(t, s)
	redistest.Wait(t, patient, "the store to listen", func() error {
		if !slices.ContainsFunc(monitor.Commands(), func(c redistest.Command) bool {
			return c.Client != "lua" && strings.EqualFold(c.Words[0], "get")
		}) {
			return errors.New("it did not")
		}
		return nil
	})
	for _, c := range monitor.Stop(t) {
		for _, key := range keysOf(c) {
			require.True(t, strings.HasPrefix(key, "acme:rl:"), "%q", c.Words)
		}
	}
	require.Empty(t, server.Do(t, "ACL", "LOG"))
}
