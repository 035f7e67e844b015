package redistest

import (
	"errors"
	"testing"
	"time"
)

// Stop ends the server as an operator does, by SIGTERM, and returns when it is
// gone. Clients see their connections closed, then refused.
func (s *Server) Stop(tb testing.TB) {
	tb.Helper()
	if err := s.current().terminate(stopsWithin); err != nil {
		tb.Fatal(err)
	}
}

// Kill ends the server by SIGKILL and returns when it is gone. It does nothing
// to one that is gone already.
func (s *Server) Kill(tb testing.TB) {
	tb.Helper()
	if p := s.current(); p != nil {
		if err := p.kill(); err != nil {
			tb.Fatal(err)
		}
	}
}

// Freeze stops the server's process where it is, by SIGSTOP, and returns when
// it stands still. The kernel goes on accepting connections and bytes for it;
// nothing is answered until [Server.Thaw], and then everything is executed.
func (s *Server) Freeze(tb testing.TB) {
	tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.proc.freeze(); err != nil {
		tb.Fatal("redistest: freeze:", err)
	}
	s.frozen = true
	Wait(tb, time.Second, "the process to stand still", func() error {
		if !s.proc.frozen() {
			return errors.New("it runs")
		}
		return nil
	})
}

// Thaw lets a frozen server go on, by SIGCONT.
func (s *Server) Thaw(tb testing.TB) {
	tb.Helper()
	if err := s.thaw(); err != nil {
		tb.Fatal("redistest: thaw:", err)
	}
}

func (s *Server) thaw() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen = false
	return s.proc.thaw()
}

// Restart kills the server if it runs and starts it again on the same address,
// with the same configuration and an empty memory: no keys, no scripts, no
// statistics. A node of a cluster knows the others again, a Sentinel the master.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	s.Kill(tb)
	s.run(tb)
	s.ready(tb)
}
