package main

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/memstore"
)

// start is when every request comes.
var start = time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC)

// service is the API at a time that stands still.
type service struct {
	http.Handler

	warnings strings.Builder
	clock    *fakeclock.Clock
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{clock: fakeclock.New(start)}
	api, err := newAPI(memstore.New(memstore.WithClock(s.clock)), &s.warnings)
	require.NoError(t, err)
	s.Handler = api
	return s
}

// get asks for path with an API key; "" sends none.
func (s *service) get(key, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if key != "" {
		r.Header.Set("X-Api-Key", key)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// rateHeaders are limit, remaining and reset of an answer.
func rateHeaders(w *httptest.ResponseRecorder) [3]string {
	h := w.Header()
	return [3]string{h.Get("X-RateLimit-Limit"), h.Get("X-RateLimit-Remaining"), h.Get("X-RateLimit-Reset")}
}

// unix is the moment after start in Unix seconds.
func unix(after time.Duration) string { return strconv.FormatInt(start.Add(after).Unix(), 10) }

// requireBody asserts that w was answered with want, byte for byte.
func requireBody(t *testing.T, want string, w *httptest.ResponseRecorder) {
	t.Helper()
	require.Equal(t, want, w.Body.String())
}

func TestEleventhRequestOfTheFreePlanIsRefused(t *testing.T) {
	s := newService(t)
	for i := range 10 {
		w := s.get("key_ana", "/data")
		require.Equal(t, http.StatusOK, w.Code)
		require.Equal(t, "data\n", w.Body.String())
		require.Equal(t, [3]string{"10", strconv.Itoa(9 - i), unix(time.Duration(i+1) * 6 * time.Second)}, rateHeaders(w))
		require.Empty(t, w.Header().Get("Retry-After"))
	}
	w := s.get("key_ana", "/data")
	require.Equal(t, http.StatusTooManyRequests, w.Code)
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))
	require.Equal(t, "6", w.Header().Get("Retry-After"))
	require.Equal(t, [3]string{"10", "0", unix(time.Minute)}, rateHeaders(w))
	requireBody(t, `{"error":"rate limit exceeded","tier":"free","retry_after":6}`, w)

	s.clock.Advance(6*time.Second - time.Millisecond)
	w = s.get("key_ana", "/data")
	require.Equal(t, http.StatusTooManyRequests, w.Code)
	require.Equal(t, "1", w.Header().Get("Retry-After"))
	s.clock.Advance(time.Millisecond)
	require.Equal(t, http.StatusOK, s.get("key_ana", "/data").Code, "who waits as told is let in")
	require.Empty(t, s.warnings.String())
}

func TestReportOfTheProPlanCostsFive(t *testing.T) {
	s := newService(t)
	for _, step := range []struct{ path, remaining string }{{"/data", "99"}, {"/report", "94"}, {"/backup", "44"}} {
		w := s.get("key_bea", step.path)
		require.Equal(t, http.StatusOK, w.Code)
		require.Equal(t, "100", rateHeaders(w)[0])
		require.Equal(t, step.remaining, rateHeaders(w)[1])
	}
	w := s.get("key_bea", "/backup")
	require.Equal(t, http.StatusTooManyRequests, w.Code)
	requireBody(t, `{"error":"rate limit exceeded","tier":"pro","retry_after":4}`, w)
	require.Equal(t, http.StatusOK, s.get("key_ana", "/data").Code, "a caller pays for himself alone")
}

func TestPlanThatIsSoldNoMoreGetsTheDefault(t *testing.T) {
	s := newService(t)
	w := s.get("key_eva", "/data")
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "10", rateHeaders(w)[0])

	w = s.get("key_eva", "/backup")
	require.Equal(t, http.StatusForbidden, w.Code)
	requireBody(t, `{"error":"request cost exceeds tier limit","tier":"free","cost":50,"limit":10}`, w)
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))
	require.Empty(t, w.Header().Values("Retry-After"))
	require.Equal(t, [3]string{}, rateHeaders(w))
	require.Equal(t, strings.Repeat("unknown tier \"gold\" for key_eva\n", 2), s.warnings.String())
}

func TestUnknownKeyIsUnauthorized(t *testing.T) {
	s := newService(t)
	for _, key := range []string{"", "key_eve", " "} {
		for range 20 {
			w := s.get(key, "/data")
			require.Equal(t, http.StatusUnauthorized, w.Code)
			requireBody(t, `{"error":"Unauthorized"}`, w)
			require.Equal(t, [3]string{}, rateHeaders(w))
		}
	}
	require.Empty(t, s.warnings.String())
}

func TestUnknownPathsCostOneToo(t *testing.T) {
	s := newService(t)
	w := s.get("key_ana", "/nothing")
	require.Equal(t, http.StatusNotFound, w.Code)
	require.Equal(t, "9", rateHeaders(w)[1])
}
