package redisstore_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// as is how that user logs in to server.
func as(server *redistest.Server, g granted) rueidis.ClientOption {
	o := server.ClientOption()
	g.as()(&o)
	return o
}

func without(rights []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(rights), func(r string) bool { return r == one })
}

// TestReadyTellsAtOnceWhichRightIsMissing, and not when the first customer asks.
func TestReadyTellsAtOnceWhichRightIsMissing(t *testing.T) {
	t.Parallel()
	g := documented(t)
	for _, missing := range []string{"+evalsha", "+eval", "+get", "+set", "+time"} {
		t.Run(missing, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t, g.under(g.pattern, without(g.all, missing)))
			s := open(t, as(server, g), redisstore.WithTimeout(patient))
			err := s.Ready(t.Context())
			require.ErrorIs(t, err, redisstore.ErrRefused)
			require.ErrorContains(t, err, missing[1:])
		})
	}
}

func TestReadyChargesNobodyAndNeedsNoPing(t *testing.T) {
	t.Parallel()
	g := documented(t)
	server := redistest.Start(t, g.under(g.pattern, without(g.all, "+ping")))
	ready(t, open(t, as(server, g), redisstore.WithTimeout(patient)))
	require.Empty(t, server.Keys(t, "*"))
}

// TestReadyWaitsForAServerThatIsNotYet: a replica without a master answers
// everything with an error until there is one.
func TestReadyWaitsForAServerThatIsNotYet(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.WithConfig("replica-serve-stale-data no"))
	server.Do(t, "REPLICAOF", "127.0.0.1", "1")
	s := open(t, server.ClientOption(), redisstore.WithTimeout(patient))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	err := s.Ready(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "MASTERDOWN")
	server.Do(t, "REPLICAOF", "NO", "ONE")
	ready(t, s)
}
