package redistest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"
)

const (
	configName = "redis.conf"

	// startsWithin and stopsWithin are far beyond what is usual, for machines
	// that do much else; a master that is stopped waits 10 s for slow replicas.
	startsWithin = 15 * time.Second
	stopsWithin  = 15 * time.Second
)

// Server is a Redis that the test may stop, freeze and start again. It is safe
// for concurrent use.
type Server struct {
	addr   string
	dir    string
	config config

	mu     sync.Mutex
	proc   *process
	frozen bool
}

// Start starts a server on a free port and returns when it answers, after about
// 20 ms. It skips the test where there is no Redis, see [Need].
func Start(tb testing.TB, opts ...Option) *Server {
	tb.Helper()
	return StartAt(tb, Reserve(tb), opts...)
}

// StartAt is [Start] on an address that [Reserve] gave.
func StartAt(tb testing.TB, addr string, opts ...Option) *Server {
	tb.Helper()
	s := launch(tb, addr, opts...)
	s.ready(tb)
	return s
}

// launch starts a server and does not wait until it answers.
func launch(tb testing.TB, addr string, opts ...Option) *Server {
	tb.Helper()
	Need(tb)
	s := &Server{addr: addr, dir: tb.TempDir()}
	for _, opt := range opts {
		opt(&s.config)
	}
	if err := s.config.write(s.dir, addr); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		s.Kill(tb)
		if tb.Failed() {
			tb.Logf("redistest: the last that %s said:\n%s", addr, s.lastWords())
		}
	})
	s.run(tb)
	return s
}

func (s *Server) run(tb testing.TB) {
	tb.Helper()
	args := []string{configName}
	if s.config.sentinel {
		args = append(args, "--sentinel")
	}
	p, err := spawn(s.dir, program, args...)
	if err != nil {
		tb.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proc, s.frozen = p, false
}

func (s *Server) ready(tb testing.TB) {
	tb.Helper()
	Wait(tb, startsWithin, s.addr+" to answer", func() error {
		if !s.current().alive() {
			tb.Fatalf("redistest: the server for %s ended:\n%s", s.addr, s.lastWords())
		}
		_, err := s.ask("ping")
		return err
	})
}

// Addr is host and port, "127.0.0.1:12345", the same after a restart.
func (s *Server) Addr() string { return s.addr }

// Port is the port of [Server.Addr].
func (s *Server) Port() int {
	_, port, _ := net.SplitHostPort(s.addr) // It was split at the start.
	n, _ := strconv.Atoi(port)
	return n
}

// current is the process that runs, or the last that ran.
func (s *Server) current() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc
}

// answers says whether the server may be asked: it is neither gone nor frozen.
func (s *Server) answers() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc.alive() && !s.frozen
}

// lastWords is the end of the server's log.
func (s *Server) lastWords() string {
	const most = 1000
	text, err := os.ReadFile(filepath.Join(s.dir, logName))
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(text[max(0, len(text)-most):])
}
