package overredis

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// errSkipped is why a stage ended early without a fault.
var errSkipped = errors.New("skipped")

// stage stands in for a test: the Redis servers that are made for tests serve
// the tables too.
type stage struct {
	testing.TB // nil; what is not here must not be called

	mu       sync.Mutex
	cleanups []func()
	err      error
}

// onStage runs f, then what it has asked to be cleaned up, last first.
func onStage(f func(tb testing.TB)) error {
	s := &stage{}
	done := make(chan struct{})
	go func() { // Fatal ends a goroutine, as it does in a test.
		defer close(done)
		defer s.clean()
		f(s)
	}()
	<-done
	return s.err
}

func (s *stage) clean() {
	for _, f := range slices.Backward(s.cleanups) {
		f()
	}
}

func (s *stage) end(err error) {
	s.mu.Lock()
	if s.err == nil {
		s.err = err
	}
	s.mu.Unlock()
}

func (s *stage) Helper()                  {}
func (s *stage) Log(...any)               {}
func (s *stage) Logf(string, ...any)      {}
func (s *stage) Context() context.Context { return context.Background() }

func (s *stage) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }

func (s *stage) Failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err != nil && !errors.Is(s.err, errSkipped)
}

func (s *stage) TempDir() string {
	dir, err := os.MkdirTemp("", "overredis")
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (s *stage) Error(args ...any) { s.end(errors.New(fmt.Sprint(args...))) }

func (s *stage) Fatal(args ...any) {
	s.Error(args...)
	runtime.Goexit()
}

func (s *stage) Fatalf(format string, args ...any) { s.Fatal(fmt.Sprintf(format, args...)) }

func (s *stage) Skipf(format string, args ...any) {
	s.end(fmt.Errorf("%w: %s", errSkipped, fmt.Sprintf(format, args...)))
	runtime.Goexit()
}
