package redistest

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// ReplyError is an error that Redis answered with, "ERR unknown command ...".
type ReplyError string

func (e ReplyError) Error() string { return string(e) }

// conn is a connection of the plainest kind: RESP2, one command at a time. It
// is there because a client that pools, pipelines and reconnects would blur
// what the servers do.
type conn struct {
	net.Conn

	r *bufio.Reader
	// within is how long a command may take.
	within time.Duration
}

// dial connects to the server as its default user.
func (s *Server) dial(within time.Duration) (*conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	var d interface {
		DialContext(ctx context.Context, network, addr string) (net.Conn, error)
	} = &net.Dialer{}
	if config := s.TLS(); config != nil {
		d = &tls.Dialer{Config: config}
	}
	nc, err := d.DialContext(ctx, "tcp", s.addr)
	if err != nil {
		return nil, fmt.Errorf("redistest: %w", err)
	}
	c := &conn{Conn: nc, r: bufio.NewReader(nc), within: within}
	if s.config.password != "" {
		if _, err := c.do("auth", s.config.password); err != nil {
			_ = c.Close()
			return nil, err
		}
	}
	return c, nil
}

// do sends a command, words as fmt.Sprint prints them, and reads its reply: a
// string, an int64, nil or a []any of these. An error inside of an array is an
// element, one that is the reply is returned.
func (c *conn) do(words ...any) (any, error) {
	if err := c.SetDeadline(time.Now().Add(c.within)); err != nil {
		return nil, fmt.Errorf("redistest: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, word := range words {
		text := fmt.Sprint(word)
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(text), text)
	}
	if _, err := io.WriteString(c, b.String()); err != nil {
		return nil, fmt.Errorf("redistest: %w", err)
	}
	reply, err := c.read()
	if err != nil {
		return nil, fmt.Errorf("redistest: %v: %w", words[0], err)
	}
	if e, ok := reply.(ReplyError); ok {
		return nil, fmt.Errorf("redistest: %v: %w", words[0], e)
	}
	return reply, nil
}

//nolint:wrapcheck // do says what for.
func (c *conn) read() (any, error) {
	line, err := c.r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimSuffix(line, "\r\n")
	if line == "" {
		return nil, errors.New("empty line for a reply")
	}
	kind, rest := line[0], line[1:]
	switch kind {
	case '+':
		return rest, nil
	case '-':
		return ReplyError(rest), nil
	case ':':
		return strconv.ParseInt(rest, 10, 64)
	}
	n, err := strconv.Atoi(rest)
	switch {
	case err != nil:
		return nil, err
	case n < 0:
		return nil, nil //nolint:nilnil // That is what Redis says.
	case kind == '$':
		text := make([]byte, n+len("\r\n"))
		_, err := io.ReadFull(c.r, text)
		return string(text[:n]), err
	case kind != '*':
		return nil, fmt.Errorf("reply of unknown kind %q", line)
	}
	list := make([]any, n)
	for i := range list {
		if list[i], err = c.read(); err != nil {
			return nil, err
		}
	}
	return list, nil
}
