package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/memstore"
)

// service is the API at a time that stands still.
type service struct {
	http.Handler

	clock *fakeclock.Clock
}

func newService(t *testing.T) *service {
	t.Helper()
	clock := fakeclock.New(time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC))
	api, err := newAPI(memstore.New(memstore.WithClock(clock)))
	require.NoError(t, err)
	return &service{api, clock}
}

// chat sends a prompt; httptest declares its length only when it knows it.
func (s *service) chat(key string, prompt io.Reader) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/chat", prompt)
	r.Header.Set("X-Api-Key", key)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func (s *service) ask(prompt string) *httptest.ResponseRecorder {
	return s.chat("key_ana", strings.NewReader(prompt))
}

// streamed is a prompt of unknown length.
func streamed(prompt string) io.Reader { return io.MultiReader(strings.NewReader(prompt)) }

// left is how many of the 1000 tokens are left, by the answer to a prompt that
// takes them all and is refused.
func (s *service) left(t *testing.T) string {
	t.Helper()
	w := s.ask(strings.Repeat("x", 4*999))
	require.Equal(t, http.StatusTooManyRequests, w.Code)
	require.Equal(t, "1000", w.Header().Get("X-RateLimit-Limit"))
	return w.Header().Get("X-RateLimit-Remaining")
}

// requireBody asserts that w was answered with want, byte for byte.
func requireBody(t *testing.T, want string, w *httptest.ResponseRecorder) {
	t.Helper()
	require.Equal(t, want, w.Body.String())
}

func TestPromptIsSettledToWhatTheModelUsed(t *testing.T) {
	s := newService(t)
	const prompt = "How do I limit an API by plan?" // 30 bytes, 8 words: estimated 8, used 32
	w := s.ask(prompt)
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, strings.Repeat("Limit by plan. ", 8)+"\n", w.Body.String())
	require.Equal(t, "968", s.left(t))
	require.Equal(t, http.StatusOK, s.ask(prompt).Code)
	require.Equal(t, "936", s.left(t))
}

func TestEstimateThatWasTooHighIsGivenBack(t *testing.T) {
	s := newService(t)
	require.Equal(t, http.StatusOK, s.ask(strings.Repeat("x", 400)).Code) // one word: estimated 101, used 4
	require.Equal(t, "996", s.left(t))
	require.Equal(t, http.StatusOK, s.ask("").Code)
	require.Equal(t, "996", s.left(t), "an empty prompt uses nothing")
}

func TestLongPromptsAreRefusedByTheirTokens(t *testing.T) {
	s := newService(t)
	require.Equal(t, http.StatusOK, s.ask(strings.Repeat("word ", 200)).Code) // estimated 251, used 800
	require.Equal(t, "200", s.left(t))

	long := strings.Repeat("x", 3000) // estimated 751
	w := s.ask(long)
	require.Equal(t, http.StatusTooManyRequests, w.Code)
	requireBody(t, `{"error":"rate limit exceeded","tier":"free","retry_after":34}`, w)

	w = s.ask(strings.Repeat("x", 5000))
	require.Equal(t, http.StatusForbidden, w.Code)
	requireBody(t, `{"error":"request cost exceeds tier limit","tier":"free","cost":1251,"limit":1000}`, w)

	s.clock.Advance(34 * time.Second)
	require.Equal(t, http.StatusOK, s.ask(long).Code)
}

func TestPromptOverTheLimitOfTheBodyIsAnsweredByTheHandler(t *testing.T) {
	s := newService(t)
	huge := strings.Repeat("x", 64<<10+1)
	for _, prompt := range []io.Reader{strings.NewReader(huge), streamed(huge)} {
		w := s.chat("key_ana", prompt)
		require.Equal(t, http.StatusRequestEntityTooLarge, w.Code)
		require.Equal(t, "the prompt is too long\n", w.Body.String())
	}
	require.Equal(t, "998", s.left(t), "each has cost 1")
}

func TestStreamedPromptIsReadWhole(t *testing.T) {
	s := newService(t)
	w := s.chat("key_ana", streamed("one two three four"))
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, strings.Repeat("Limit by plan. ", 4)+"\n", w.Body.String())
	require.Equal(t, "984", s.left(t))
}

func TestRequestThatTokensRefuseIsGivenBack(t *testing.T) {
	s := newService(t)
	require.Equal(t, http.StatusOK, s.ask(strings.Repeat("word ", 240)).Code) // 960 of 1000 tokens, 1 of 10 requests
	for range 20 {
		w := s.ask(strings.Repeat("x", 400))
		require.Equal(t, http.StatusTooManyRequests, w.Code)
		require.Equal(t, "1000", w.Header().Get("X-RateLimit-Limit"), "refused by the tokens, not by the requests")
	}
	for range 9 {
		require.Equal(t, http.StatusOK, s.ask("").Code)
	}
	w := s.ask("")
	require.Equal(t, http.StatusTooManyRequests, w.Code)
	requireBody(t, `{"error":"rate limit exceeded","tier":"free","retry_after":6}`, w)
	require.Empty(t, w.Header().Values("X-RateLimit-Limit"), "the requests show no headers")
}

func TestUnknownKeyIsUnauthorized(t *testing.T) {
	s := newService(t)
	w := s.chat("key_eve", strings.NewReader("hello"))
	require.Equal(t, http.StatusUnauthorized, w.Code)
	requireBody(t, `{"error":"Unauthorized"}`, w)
}
