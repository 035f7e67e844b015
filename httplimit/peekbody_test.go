package httplimit_test

import (
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
)

// body counts how often it is closed.
type body struct {
	io.Reader

	closed int
}

func (b *body) Close() error {
	b.closed++
	return nil
}

// post is a request with b as its body; declared is its length, -1 for chunked.
func post(b io.Reader, declared int64) (*http.Request, *body) {
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	original := &body{Reader: b}
	r.Body, r.ContentLength = original, declared
	return r, original
}

// untouchable fails the test when it is read.
type untouchable struct{ t *testing.T }

func (u untouchable) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

func TestPeekBodyUpToTheLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		limit int64
		err   error
	}{
		{"", 0, nil},
		{"", 10, nil},
		{"0123456789", 10, nil},
		{"0123456789", 11, nil},
		{"0123456789", math.MaxInt64, nil},
		{"0123456789", math.MaxInt64 - 1, nil},
		{"0123456789", 9, httplimit.ErrBodyTooLarge},
		{"0", 0, httplimit.ErrBodyTooLarge},
		{"0", -1, httplimit.ErrBodyTooLarge},
		{"", math.MinInt64, nil},
		{strings.Repeat("x", 1<<20), 64 << 10, httplimit.ErrBodyTooLarge},
	} {
		for _, declared := range []int64{-1, int64(len(c.text))} {
			for _, reader := range []io.Reader{
				strings.NewReader(c.text),
				iotest.OneByteReader(strings.NewReader(c.text)),
				iotest.DataErrReader(strings.NewReader(c.text)),
			} {
				r, original := post(reader, declared)
				got, err := httplimit.PeekBody(r, c.limit)
				require.ErrorIs(t, err, c.err)
				if c.err == nil {
					require.Equal(t, c.text, string(got))
				} else {
					require.Nil(t, got)
				}
				whole, err := io.ReadAll(r.Body)
				require.NoError(t, err)
				require.Equal(t, c.text, string(whole), "the handler reads the whole body")
				require.Equal(t, declared, r.ContentLength)
				require.Zero(t, original.closed)
				require.NoError(t, r.Body.Close())
				require.Equal(t, 1, original.closed)
			}
		}
	}
}

func TestPeekBodyOfARequestWithoutOne(t *testing.T) {
	t.Parallel()
	for _, none := range []io.ReadCloser{nil, http.NoBody} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Body = none
		got, err := httplimit.PeekBody(r, 10)
		require.NoError(t, err)
		require.Empty(t, got)
		require.Equal(t, none, r.Body)
	}
}

func TestPeekBodyDoesNotReadWhatIsDeclaredTooLong(t *testing.T) {
	t.Parallel()
	for _, declared := range []int64{11, math.MaxInt64} {
		r, original := post(untouchable{t}, declared)
		got, err := httplimit.PeekBody(r, 10)
		require.ErrorIs(t, err, httplimit.ErrBodyTooLarge)
		require.Nil(t, got)
		require.Same(t, original, r.Body)
		require.Zero(t, original.closed)
	}
}

func TestPeekBodyStopsAtTheLimit(t *testing.T) {
	t.Parallel()
	endless := iotest.OneByteReader(neverEnding('x'))
	read := 0
	r, _ := post(io.TeeReader(endless, countingWriter{&read}), -1)
	_, err := httplimit.PeekBody(r, 1000)
	require.ErrorIs(t, err, httplimit.ErrBodyTooLarge)
	require.Equal(t, 1001, read)
}

type neverEnding byte

func (b neverEnding) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b)
	}
	return len(p), nil
}

type countingWriter struct{ n *int }

func (w countingWriter) Write(p []byte) (int, error) {
	*w.n += len(p)
	return len(p), nil
}

func TestPeekBodyHandsAReadErrorOn(t *testing.T) {
	t.Parallel()
	cut := errors.New("the connection was cut")
	for _, text := range []string{"", "half a bo"} {
		r, original := post(io.MultiReader(strings.NewReader(text), iotest.ErrReader(cut)), 20)
		got, err := httplimit.PeekBody(r, 20)
		require.ErrorIs(t, err, httplimit.ErrBodyRead)
		require.ErrorIs(t, err, cut)
		require.NotErrorIs(t, err, httplimit.ErrBodyTooLarge)
		require.Nil(t, got)
		whole, err := io.ReadAll(r.Body)
		require.Equal(t, cut, err, "the handler meets the same error")
		require.Equal(t, text, string(whole))
		_, err = r.Body.Read(make([]byte, 1))
		require.Equal(t, cut, err, "again and again")
		require.NoError(t, r.Body.Close())
		require.Equal(t, 1, original.closed)
	}
}

func TestPeekBodyUnderMaxBytesReader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		upstream, limit int64
		err             error
	}{
		{10, 20, nil},
		{9, 20, httplimit.ErrBodyTooLarge},
		{20, 9, httplimit.ErrBodyTooLarge},
		{5, 5, httplimit.ErrBodyTooLarge},
	} {
		r, _ := post(strings.NewReader("0123456789"), -1)
		r.Body = http.MaxBytesReader(httptest.NewRecorder(), r.Body, c.upstream)
		got, err := httplimit.PeekBody(r, c.limit)
		require.ErrorIs(t, err, c.err)
		require.NotErrorIs(t, err, httplimit.ErrBodyRead)
		if c.err == nil {
			require.Equal(t, "0123456789", string(got))
			continue
		}
		whole, err := io.ReadAll(r.Body)
		require.Equal(t, "0123456789"[:min(c.upstream, 10)], string(whole))
		if c.upstream >= 10 {
			require.NoError(t, err)
			continue
		}
		var tooLarge *http.MaxBytesError
		require.ErrorAs(t, err, &tooLarge)
		require.Equal(t, c.upstream, tooLarge.Limit)
	}
}

func TestPeekBodyTwice(t *testing.T) {
	t.Parallel()
	r, original := post(strings.NewReader("0123456789"), -1)
	for _, c := range []struct {
		limit int64
		err   error
	}{{3, httplimit.ErrBodyTooLarge}, {20, nil}, {9, httplimit.ErrBodyTooLarge}, {0, httplimit.ErrBodyTooLarge}, {10, nil}, {10, nil}} {
		got, err := httplimit.PeekBody(r, c.limit)
		require.ErrorIs(t, err, c.err)
		if c.err == nil {
			require.Equal(t, "0123456789", string(got))
		}
	}
	whole, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.Equal(t, "0123456789", string(whole))
	require.NoError(t, r.Body.Close())
	require.Equal(t, 1, original.closed)
}

func TestPeekBodyIsTheCallersOwnCopy(t *testing.T) {
	t.Parallel()
	r, _ := post(strings.NewReader("0123456789"), 10)
	first, err := httplimit.PeekBody(r, 10)
	require.NoError(t, err)
	second, err := httplimit.PeekBody(r, 10)
	require.NoError(t, err)
	clear(second)
	require.Equal(t, "0123456789", string(first))
}

func TestBodiesThatIdentifyCannotUseAreRefused(t *testing.T) {
	t.Parallel()
	identify := func(r *http.Request) (core.Identity, error) {
		key, err := httplimit.PeekBody(r, 10)
		return core.Identity{Key: string(key)}, err
	}
	limited := httplimit.New(newLimiter(t, core.PerMinute(10)), identify)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	for _, c := range []struct {
		reader   io.Reader
		declared int64
		status   int
		body     string
	}{
		{strings.NewReader("key_ana"), 7, 200, "key_ana"},
		{strings.NewReader("key_ana"), -1, 200, "key_ana"},
		{strings.NewReader("much too long"), -1, 413, `{"error":"payload too large"}`},
		{untouchable{t}, 11, 413, `{"error":"payload too large"}`},
		{iotest.ErrReader(io.ErrUnexpectedEOF), 7, 400, `{"error":"failed to read request body"}`},
	} {
		r, _ := post(c.reader, c.declared)
		rec := httptest.NewRecorder()
		limited.ServeHTTP(rec, r)
		require.Equal(t, c.status, rec.Code)
		require.Equal(t, c.body, rec.Body.String())
	}
}
