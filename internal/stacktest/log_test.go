package stacktest_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// logged is what slog's default logger was told.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// count is how many lines at Error have text in them.
func (l *logged) count(text string) int {
	n := 0
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, "level=ERROR") && strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// captureLog collects what is logged until the test ends. Such a test is not
// parallel.
func captureLog(t *testing.T) *logged {
	t.Helper()
	l := &logged{}
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(l, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return l
}
