package httplimit_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
)

// refunding limits handler and tells the statuses that WithRefund is asked about.
func refunding(t *testing.T, handler http.HandlerFunc) (limited http.Handler, statuses <-chan int) {
	t.Helper()
	asked := make(chan int, 10)
	return httplimit.New(newLimiter(t, core.PerMinute(10)),
		func(*http.Request) (core.Identity, error) { return ana, nil },
		httplimit.WithRefund(func(status int) bool { asked <- status; return false }),
	)(handler), asked
}

// get sends a request to h.
func get(h http.Handler, w http.ResponseWriter) {
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
}

func TestRefundIsAskedAboutTheFirstStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		f      http.HandlerFunc
		status int
	}{
		{"nothing written", func(http.ResponseWriter, *http.Request) {}, 200},
		{"a body alone", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") }, 200},
		{"a status", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, 404},
		{"a status and a body", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			io.WriteString(w, "bad")
		}, 502},
		{"two statuses", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			w.WriteHeader(http.StatusInternalServerError)
		}, 404},
		{"a status after the body", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "ok")
			w.WriteHeader(http.StatusInternalServerError)
		}, 200},
		{"hints before the status", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusProcessing)
			w.WriteHeader(http.StatusServiceUnavailable)
		}, 503},
		{"hints alone", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusEarlyHints) }, 200},
		{"another protocol", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusSwitchingProtocols) }, 101},
		{"flushed before the status", func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			w.WriteHeader(http.StatusInternalServerError)
		}, 200},
		{"flushed by a controller", func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).Flush()
			w.WriteHeader(http.StatusInternalServerError)
		}, 200},
		{"copied", func(w http.ResponseWriter, _ *http.Request) {
			io.Copy(w, strings.NewReader("ok"))
			w.WriteHeader(http.StatusInternalServerError)
		}, 200},
	} {
		h, statuses := refunding(t, c.f)
		get(h, httptest.NewRecorder())
		require.Equal(t, c.status, <-statuses, c.name)
	}
}

func TestRefundCountsAPanicAs500(t *testing.T) {
	t.Parallel()
	for _, f := range []http.HandlerFunc{
		func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusOK)
			panic(http.ErrAbortHandler)
		},
	} {
		h, statuses := refunding(t, f)
		require.PanicsWithValue(t, http.ErrAbortHandler, func() { get(h, httptest.NewRecorder()) })
		require.Equal(t, 500, <-statuses)
	}
}

func TestWrappedWriterStillDoesWhatAServersWriterDoes(t *testing.T) {
	t.Parallel()
	const text = "streamed, copied"
	h, statuses := refunding(t, func(w http.ResponseWriter, _ *http.Request) {
		rc := http.NewResponseController(w)
		if rc.SetWriteDeadline(start.AddDate(100, 0, 0)) != nil || rc.EnableFullDuplex() != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		io.WriteString(w, "streamed, ")
		w.(http.Flusher).Flush()
		io.Copy(w, io.LimitReader(strings.NewReader("copied"), 100))
	})
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	res, err := http.Get(server.URL)
	require.NoError(t, err)
	got, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, text, string(got))
	require.Equal(t, []string{"chunked"}, res.TransferEncoding)
	require.Equal(t, 200, <-statuses)
}

func TestWrappedWriterCanBeHijacked(t *testing.T) {
	t.Parallel()
	h, statuses := refunding(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		defer conn.Close()
		rw.WriteString("HTTP/1.1 418 I'm a teapot\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		rw.Flush()
	})
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	res, err := http.Get(server.URL)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusTeapot, res.StatusCode)
	require.Equal(t, 101, <-statuses, "what a hijacker answers is not seen")
}

func TestFailedHijackLeavesTheStatus(t *testing.T) {
	t.Parallel()
	var err error
	h, statuses := refunding(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _, err = w.(http.Hijacker).Hijack()
		w.WriteHeader(http.StatusNotFound)
	})
	get(h, httptest.NewRecorder())
	require.ErrorIs(t, err, http.ErrNotSupported)
	require.Equal(t, 404, <-statuses)
}

// plainWriter can do no more than it must.
type plainWriter struct{ http.ResponseWriter }

// hijackedWriter hands out a connection.
type hijackedWriter struct {
	http.ResponseWriter

	conn net.Conn
}

func (w hijackedWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) { return w.conn, nil, nil }

func TestWrappedWriterUnwraps(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	var inner http.ResponseWriter
	h, _ := refunding(t, func(w http.ResponseWriter, _ *http.Request) {
		inner = w.(interface{ Unwrap() http.ResponseWriter }).Unwrap()
	})
	get(h, rec)
	require.Same(t, rec, inner)
}

func TestWrappedWriterFlushesOnlyWhatCanBeFlushed(t *testing.T) {
	t.Parallel()
	var err error
	h, _ := refunding(t, func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush() // does nothing, and does not panic
		err = http.NewResponseController(w).Flush()
	})
	get(h, plainWriter{httptest.NewRecorder()})
	require.ErrorIs(t, err, errors.ErrUnsupported)
}

func TestWrappedWriterIsHijackedThroughAController(t *testing.T) {
	t.Parallel()
	client, server := net.Pipe()
	t.Cleanup(func() { client.Close(); server.Close() })
	var conn net.Conn
	h, statuses := refunding(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ = http.NewResponseController(w).Hijack()
	})
	get(h, hijackedWriter{httptest.NewRecorder(), server})
	require.Same(t, server, conn)
	require.Equal(t, 101, <-statuses)
}

func TestWriterIsWrappedOnlyForRefunds(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	var met http.ResponseWriter
	get(httplimit.New(newLimiter(t, core.PerMinute(10)),
		func(*http.Request) (core.Identity, error) { return ana, nil },
	)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { met = w })), rec)
	require.Same(t, rec, met)
}
