package redisstore

import (
	"crypto/tls"
	"net"
	"sync/atomic"
	"time"
)

// openConn is a connection that the dialer knows of.
type openConn struct {
	net.Conn

	dialer *dialer
	heard  atomic.Bool
}

// expect closes the connection when nothing is heard on it for so long.
func (c *openConn) expect(within time.Duration) {
	time.AfterFunc(within, func() {
		if !c.heard.Load() {
			_ = c.Close() // whoever waits hears of it
		}
	})
}

// Read reads from the connection.
func (c *openConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && !c.heard.Load() {
		c.heard.Store(true)
	}
	return n, err //nolint:wrapcheck // rueidis is told as it is
}

// Close closes the connection, and the dialer forgets it.
func (c *openConn) Close() error {
	c.dialer.mu.Lock()
	delete(c.dialer.open, c)
	c.dialer.mu.Unlock()
	return c.Conn.Close() //nolint:wrapcheck // rueidis is told as it is
}

func disableNoDelay(conn net.Conn) {
	if c, ok := conn.(*tls.Conn); ok {
		conn = c.NetConn()
	}
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.SetNoDelay(false) // it works as well without
	}
}
