package httplimit

import (
	"bufio"
	"net"
	"net/http"

	"github.com/tierlimit/tierlimit/internal/record"
)

// statusWriter notes the status that a handler answers with, for WithRefund.
// What else the writer below can do is reached through Unwrap, as
// [http.ResponseController] does, or through the methods that older code asks
// for by type.
type statusWriter struct {
	http.ResponseWriter

	record *record.Record
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *statusWriter) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		w.record.SetStatus(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	w.record.SetStatus(http.StatusOK)
	return w.ResponseWriter.Write(b)
}

// Flush sends what was written so far; see [http.Flusher].
func (w *statusWriter) Flush() { _ = w.FlushError() }

// FlushError is Flush for [http.ResponseController].
func (w *statusWriter) FlushError() error {
	err := http.NewResponseController(w.ResponseWriter).Flush()
	if err == nil {
		w.record.SetStatus(http.StatusOK)
	}
	return err
}

// Hijack takes the connection over; see [http.Hijacker].
func (w *statusWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.record.SetStatus(http.StatusSwitchingProtocols)
	}
	return conn, rw, err
}
