package redistest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Command is one that a server was given.
type Command struct {
	// Client is the address of who gave it, "lua" for a script's call.
	Client string
	// Words are the command's name, as it was written, and its arguments.
	Words []string
}

// Monitor collects the commands that a server executes. It is safe for
// concurrent use.
type Monitor struct {
	server *Server
	conn   *conn
	done   chan struct{} // closed when nothing more comes

	mu   sync.Mutex
	seen []Command
}

// Monitor begins to collect. A restart or a kill of the server ends it. AUTH and
// administrative commands are not shown by Redis.
func (s *Server) Monitor(tb testing.TB) *Monitor {
	tb.Helper()
	c, err := s.dial(doWithin)
	if err != nil {
		tb.Fatal(err)
	}
	m := &Monitor{server: s, conn: c, done: make(chan struct{})}
	tb.Cleanup(m.end)
	if _, err := c.do("monitor"); err != nil {
		close(m.done)
		tb.Fatal(err)
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		close(m.done)
		tb.Fatal(err)
	}
	go m.collect()
	return m
}

func (m *Monitor) collect() {
	defer close(m.done)
	for {
		line, err := m.conn.read()
		if err != nil {
			return // It was closed, here or there.
		}
		command, err := parseCommand(fmt.Sprint(line))
		if err != nil {
			command.Words = []string{err.Error()} // Seen by whoever compares.
		}
		m.mu.Lock()
		m.seen = append(m.seen, command)
		m.mu.Unlock()
	}
}

func (m *Monitor) end() {
	_ = m.conn.Close() // It may be closed already.
	<-m.done
}

// Commands gives what was collected so far.
func (m *Monitor) Commands() []Command {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.seen)
}

var marks atomic.Int64

// Stop gives all that the server executed between the monitor's start and this
// call, and ends it.
func (m *Monitor) Stop(tb testing.TB) []Command {
	tb.Helper()
	// What was executed before the mark is shown before it.
	mark := fmt.Sprint("end of monitor ", marks.Add(1))
	isMark := func(c Command) bool { return slices.Equal(c.Words, []string{"echo", mark}) }
	_, sent := m.server.ask("echo", mark)
	Wait(tb, doWithin, "the monitor's mark", func() error {
		select {
		case <-m.done:
			return nil // Nothing more comes.
		default:
		}
		switch {
		case sent != nil:
			return sent
		case !slices.ContainsFunc(m.Commands(), isMark):
			return errors.New("not shown")
		}
		return nil
	})
	m.end()
	seen := m.Commands()
	if i := slices.IndexFunc(seen, isMark); i >= 0 {
		return seen[:i]
	}
	return seen
}

// parseCommand reads `1700000000.000001 [0 127.0.0.1:50000] "get" "a"`.
func parseCommand(line string) (Command, error) {
	_, rest, _ := strings.Cut(line, " [")
	from, rest, ok := strings.Cut(rest, "] ")
	if !ok {
		return Command{}, fmt.Errorf("redistest: monitor said %q", line)
	}
	_, client, _ := strings.Cut(from, " ")
	c := Command{Client: client}
	for rest != "" {
		// Redis quotes as Go does: \n, \", \\ and \x00.
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return c, fmt.Errorf("redistest: monitor said %q: %w", line, err)
		}
		word, err := strconv.Unquote(quoted)
		if err != nil {
			return c, fmt.Errorf("redistest: monitor said %q: %w", line, err)
		}
		c.Words = append(c.Words, word)
		rest = strings.TrimPrefix(rest[len(quoted):], " ")
	}
	return c, nil
}
