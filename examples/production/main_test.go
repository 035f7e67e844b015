package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/memstore"
)

// redis is a shared store that is away when it is told to be.
type redis struct {
	core.Store

	away  atomic.Bool
	calls atomic.Int64
}

func (s *redis) Take(ctx context.Context, r core.Request) (core.Result, error) {
	s.calls.Add(1)
	if s.away.Load() {
		return core.Result{}, errors.New("connection refused to 10.0.0.7:6379")
	}
	return s.Store.Take(ctx, r)
}

// service is two instances over one Redis.
type service struct {
	shared *redis
	apis   [2]http.Handler
}

func newService(t *testing.T) *service {
	t.Helper()

	clock := fakeclock.New(time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC))
	s := &service{shared: &redis{Store: memstore.New(memstore.WithClock(clock))}}
	for i := range s.apis {
		api, err := newAPI(s.shared, len(s.apis))
		require.NoError(t, err)
		s.apis[i] = api
	}
	return s
}

func (s *service) ask(instance int, method, path, key string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	r.Header.Set("X-Api-Key", key)
	w := httptest.NewRecorder()
	s.apis[instance].ServeHTTP(w, r)
	return w
}

func (s *service) data(instance int, key string) *httptest.ResponseRecorder {
	return s.ask(instance, http.MethodGet, "/data", key)
}

// admitted is how many of n requests an instance lets in.
func (s *service) admitted(instance, n int, method, path, key string) int {
	count := 0
	for range n {
		if s.ask(instance, method, path, key).Code == http.StatusOK {
			count++
		}
	}
	return count
}

func TestInstancesShareOneLimit(t *testing.T) {
	t.Parallel()
	s := newService(t)
	require.Equal(t, 4, s.admitted(0, 4, http.MethodGet, "/data", "key_ana"))
	require.Equal(t, 6, s.admitted(1, 20, http.MethodGet, "/data", "key_ana"))
	w := s.data(0, "key_ana")
	require.Equal(t, http.StatusTooManyRequests, w.Code)
	require.Equal(t, "6", w.Header().Get("Retry-After"))
	require.Equal(t, "10", w.Header().Get("X-RateLimit-Limit"))
	require.JSONEq(t, `{"error":"rate limit exceeded","tier":"free","retry_after":6}`, w.Body.String())
	require.Equal(t, 40, s.admitted(0, 41, http.MethodGet, "/data", "key_bea"))
	require.Equal(t, 100, s.admitted(0, 100, http.MethodGet, "/data", "key_eva"))
	require.Equal(t, http.StatusUnauthorized, s.data(0, "key_nobody").Code)
	require.Equal(t, 5, s.admitted(0, 6, http.MethodPost, "/login", ""))
}

// TestWhoHammersCostsTheSharedStoreNothing: the second refusal comes from memory.
func TestWhoHammersCostsTheSharedStoreNothing(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.admitted(0, 11, http.MethodGet, "/data", "key_ana")
	asked := s.shared.calls.Load()
	require.Zero(t, s.admitted(0, 50, http.MethodGet, "/data", "key_ana"))
	require.LessOrEqual(t, s.shared.calls.Load(), asked+2, "one a second")
}

// TestWhileRedisIsAwayEachInstanceGrantsItsHalf, and nothing of it is told to
// clients.
func TestWhileRedisIsAwayEachInstanceGrantsItsHalf(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.shared.away.Store(true)
	for i := range s.apis {
		require.Equal(t, 5, s.admitted(i, 5, http.MethodGet, "/data", "key_ana"))
		w := s.data(i, "key_ana")
		require.Equal(t, http.StatusTooManyRequests, w.Code)
		require.Equal(t, "12", w.Header().Get("Retry-After"), "one every 12 s here")
		require.Equal(t, "10", w.Header().Get("X-RateLimit-Limit"), "the plan is what it was")
		require.NotContains(t, w.Body.String(), "10.0.0.7")
	}
	require.Equal(t, 100, s.admitted(0, 100, http.MethodGet, "/data", "key_eva"))

	s.shared.away.Store(false)
	require.Equal(t, 10, s.admitted(0, 20, http.MethodGet, "/data", "key_ana"), "the shared bucket stands where it stood")
}

// TestWhileRedisIsAwayEachRouteDoesAsItWasTold: the login is closed, pages are
// open, and the API is limited.
func TestWhileRedisIsAwayEachRouteDoesAsItWasTold(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.shared.away.Store(true)
	w := s.ask(0, http.MethodPost, "/login", "")
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.JSONEq(t, `{"error":"service unavailable"}`, w.Body.String())
	require.NotContains(t, w.Header(), "X-Ratelimit-Limit")
	require.Equal(t, 200, s.admitted(0, 200, http.MethodGet, "/", ""))
	require.NotContains(t, s.ask(0, http.MethodGet, "/", "").Header(), "X-Ratelimit-Limit")
	require.Equal(t, 5, s.admitted(0, 20, http.MethodGet, "/data", "key_ana"))

	s.shared.away.Store(false)
	require.Equal(t, 5, s.admitted(0, 20, http.MethodPost, "/login", ""))
	require.Equal(t, 100, s.admitted(0, 200, http.MethodGet, "/", ""))
}

// TestAReportThatDoesNotFitIsOneCall, because its price is known up front.
func TestAReportThatDoesNotFitIsOneCall(t *testing.T) {
	t.Parallel()
	s := newService(t)
	require.Equal(t, 7, s.admitted(0, 7, http.MethodGet, "/data", "key_ana"))
	asked := s.shared.calls.Load()
	require.Zero(t, s.admitted(0, 50, http.MethodPost, "/report", "key_ana"))
	require.LessOrEqual(t, s.shared.calls.Load(), asked+2, "one, and one a second")
	require.Equal(t, 3, s.admitted(0, 5, http.MethodGet, "/data", "key_ana"), "what is left is for others")
}

func TestAReportFitsIntoAHalf(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.shared.away.Store(true)
	for i := range s.apis {
		require.Equal(t, 1, s.admitted(i, 3, http.MethodPost, "/report", "key_ana"))
	}
	s.shared.away.Store(false)
	require.Equal(t, 2, s.admitted(0, 3, http.MethodPost, "/report", "key_ana"))
}

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // what is limited is told by the answers
	m.Run()
}
