package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/memstore"
)

// service is the API of one framework at a time that stands still.
type service struct {
	http.Handler

	clock *fakeclock.Clock
}

// services are one in Gin and one in Echo.
func services(t *testing.T) map[string]*service {
	t.Helper()
	both := map[string]*service{}
	for name, newHandler := range map[string]func(*core.Limiter) http.Handler{"gin": newGin, "echo": newEcho} {
		clock := fakeclock.New(time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC))
		limiter, err := core.New(memstore.New(memstore.WithClock(clock)), plans, core.WithClock(clock))
		require.NoError(t, err)
		both[name] = &service{newHandler(limiter), clock}
	}
	return both
}

func (s *service) login(peer, word string) *httptest.ResponseRecorder {
	form := url.Values{"password": {word}}
	r := httptest.NewRequest(http.MethodPost, "/login", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.serve(r, peer)
}

func (s *service) data(peer, key string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/data", nil)
	r.Header.Set("X-Api-Key", key)
	return s.serve(r, peer)
}

func (s *service) serve(r *http.Request, peer string) *httptest.ResponseRecorder {
	r.RemoteAddr = peer + ":4711"
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

const (
	home   = "203.0.113.9"
	office = "198.51.100.7"
)

// requireBody asserts that w was answered with want, byte for byte.
func requireBody(t *testing.T, want string, w *httptest.ResponseRecorder) {
	t.Helper()
	require.Equal(t, want, w.Body.String())
}

func TestSixthWrongPasswordIsRefused(t *testing.T) {
	for name, s := range services(t) {
		t.Run(name, func(t *testing.T) {
			for range 5 {
				require.Equal(t, http.StatusUnauthorized, s.login(home, "guess").Code)
			}
			w := s.login(home, "guess")
			require.Equal(t, http.StatusTooManyRequests, w.Code)
			requireBody(t, `{"error":"rate limit exceeded","tier":"login","retry_after":12}`, w)
			require.Equal(t, "12", w.Header().Get("Retry-After"))
			require.Equal(t, http.StatusTooManyRequests, s.login(home, password).Code, "a guesser is not told that it was right")
			require.Equal(t, http.StatusOK, s.login(office, password).Code, "another address is another caller")

			s.clock.Advance(12 * time.Second)
			require.Equal(t, http.StatusOK, s.login(home, password).Code)
		})
	}
}

func TestSuccessfulLoginsNeverCount(t *testing.T) {
	for name, s := range services(t) {
		t.Run(name, func(t *testing.T) {
			for range 50 {
				require.Equal(t, http.StatusOK, s.login(home, password).Code)
			}
			for range 5 {
				require.Equal(t, http.StatusUnauthorized, s.login(home, "guess").Code)
			}
			require.Equal(t, http.StatusTooManyRequests, s.login(home, "guess").Code)
		})
	}
}

func TestBadKeysAreLimitedByAddress(t *testing.T) {
	for name, s := range services(t) {
		t.Run(name, func(t *testing.T) {
			for range 60 {
				require.Equal(t, http.StatusUnauthorized, s.data(home, "key_guess").Code)
			}
			w := s.data(home, "key_guess")
			require.Equal(t, http.StatusTooManyRequests, w.Code)
			requireBody(t, `{"error":"rate limit exceeded","tier":"address","retry_after":1}`, w)
			require.Equal(t, http.StatusTooManyRequests, s.data(home, "key_ana").Code, "the address is over its limit, whoever asks")
			require.Equal(t, http.StatusOK, s.data(office, "key_ana").Code)
		})
	}
}

func TestUsersAreJudgedByTheirPlan(t *testing.T) {
	for name, s := range services(t) {
		t.Run(name, func(t *testing.T) {
			for range 10 {
				w := s.data(home, "key_ana")
				require.Equal(t, http.StatusOK, w.Code)
				require.Equal(t, "10", w.Header().Get("X-RateLimit-Limit"), "the stricter of the two limits is shown")
			}
			w := s.data(office, "key_ana")
			require.Equal(t, http.StatusTooManyRequests, w.Code, "another address is the same user")
			requireBody(t, `{"error":"rate limit exceeded","tier":"free","retry_after":6}`, w)
			w = s.data(home, "key_bea")
			require.Equal(t, http.StatusOK, w.Code)
			require.Equal(t, "49", w.Header().Get("X-RateLimit-Remaining"), "her plan has 99 left, their address 49")
		})
	}
}

func TestRefusedUserDoesNotUseUpTheAddress(t *testing.T) {
	for name, s := range services(t) {
		t.Run(name, func(t *testing.T) {
			for range 10 {
				s.data(home, "key_ana")
			}
			for range 200 {
				require.Equal(t, http.StatusTooManyRequests, s.data(home, "key_ana").Code)
			}
			require.Equal(t, http.StatusOK, s.data(home, "key_bea").Code)
		})
	}
}
