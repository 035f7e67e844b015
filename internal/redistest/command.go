package redistest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// askWithin bounds the questions to servers that should be well, doWithin the
// commands of tests.
const (
	askWithin = 3 * time.Second
	doWithin  = 10 * time.Second
)

// Do sends a command as the default user on a connection of its own, words as
// fmt.Sprint prints them, and gives its reply: a string, an int64, nil or a
// []any of these. It ends the test on an error and after 10 s.
func (s *Server) Do(tb testing.TB, words ...any) any {
	tb.Helper()
	reply, err := s.Try(words...)
	if err != nil {
		tb.Fatal(err)
	}
	return reply
}

// Try is [Server.Do] for any goroutine, and for what may fail. An error that
// Redis answered with is a [ReplyError].
func (s *Server) Try(words ...any) (any, error) { return s.do(doWithin, words...) }

// ask is Try for what is answered at once or not at all.
func (s *Server) ask(words ...any) (any, error) { return s.do(askWithin, words...) }

func (s *Server) do(within time.Duration, words ...any) (any, error) {
	c, err := s.dial(within)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }() // Its work is done.
	return c.do(words...)
}

// Keys gives the keys that match a pattern, sorted; "*" gives all.
func (s *Server) Keys(tb testing.TB, pattern string) []string {
	tb.Helper()
	list, err := texts(s.Do(tb, "keys", pattern))
	if err != nil {
		tb.Fatal(err)
	}
	slices.Sort(list)
	return list
}

// info gives a section of INFO.
func (s *Server) info(section string) (map[string]string, error) {
	reply, err := s.ask("info", section)
	return fields(reply), err
}

// fields reads lines of "name:value".
func fields(reply any) map[string]string {
	found := map[string]string{}
	for line := range strings.Lines(fmt.Sprint(reply)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			found[name] = value
		}
	}
	return found
}

// texts is an array of strings.
func texts(reply any) ([]string, error) {
	list, ok := reply.([]any)
	if !ok {
		return nil, fmt.Errorf("redistest: reply %v is no list", reply)
	}
	found := make([]string, len(list))
	for i, element := range list {
		if found[i], ok = element.(string); !ok {
			return nil, fmt.Errorf("redistest: element %v is no string", element)
		}
	}
	return found, nil
}
