package redisstore

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// dialFunc is what rueidis.ClientOption.DialCtxFn takes.
type dialFunc func(ctx context.Context, addr string, d *net.Dialer, t *tls.Config) (net.Conn, error)

// dialer lets a connection take longer than a check may. rueidis connects
// within the deadline of the check that needs the connection, so where TCP and
// TLS take longer than that, none would ever come about. Here the check fails in
// time, and the connection is made ready in the background for the next one.
//
// It also knows what is open: a connection that comes about while rueidis is
// being closed would stay, with its goroutines.
type dialer struct {
	dial  dialFunc
	keep  time.Duration // how long one waits for somebody who needs it
	delay bool          // rueidis.ClientOption.DisableTCPNoDelay, which needs the connection as it is

	most atomic.Int64 // how long whoever sets no deadline may wait; 0: as long as it takes

	mu      sync.Mutex
	waiting map[string]*dialing // by address, for whoever comes next
	open    map[*openConn]struct{}
	closed  bool
}

// dialing is a connection in the making.
type dialing struct {
	done chan struct{} // closed when there is one, or not
	conn net.Conn
	err  error
}

func newDialer(dial dialFunc) *dialer {
	return &dialer{dial: dial, keep: time.Minute, waiting: map[string]*dialing{}, open: map[*openConn]struct{}{}}
}

// dialPlainly is what rueidis does by itself.
func dialPlainly(ctx context.Context, addr string, d *net.Dialer, t *tls.Config) (net.Conn, error) {
	if t != nil {
		return (&tls.Dialer{NetDialer: d, Config: t}).DialContext(ctx, "tcp", addr) //nolint:wrapcheck // classify does
	}
	return d.DialContext(ctx, "tcp", addr) //nolint:wrapcheck // as above
}

// hurry bounds how long whoever sets no deadline waits for a connection, and
// for the first answer on it. rueidis looks at the topology without one, and
// checks that need the same connection then wait as long.
func (d *dialer) hurry(most time.Duration) { d.most.Store(int64(most)) }

// get gives a connection to addr before ctx ends, or leaves it to the next.
func (d *dialer) get(ctx context.Context, addr string, with *net.Dialer, t *tls.Config) (net.Conn, error) {
	most := time.Duration(d.most.Load())
	if _, ok := ctx.Deadline(); ok || most == 0 {
		return d.wait(ctx, addr, with, t)
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	conn, err := d.wait(ctx, addr, with, t)
	if known, ok := conn.(*openConn); ok {
		known.expect(most)
	}
	return conn, err
}

func (d *dialer) wait(ctx context.Context, addr string, with *net.Dialer, t *tls.Config) (net.Conn, error) {
	d.mu.Lock()
	one := d.waiting[addr]
	delete(d.waiting, addr)
	d.mu.Unlock()
	if one == nil || one.failed() {
		one = d.start(addr, with, t)
	}
	began := time.Now()
	select {
	case <-one.done:
		// What follows, HELLO, takes a round trip more, within the same deadline.
		if deadline, ok := ctx.Deadline(); one.err != nil || !ok || time.Until(deadline) >= time.Since(began) {
			return one.conn, one.err
		}
	case <-ctx.Done():
	}
	d.leave(addr, one)
	return nil, context.DeadlineExceeded
}

func (d *dialer) start(addr string, with *net.Dialer, t *tls.Config) *dialing {
	one := &dialing{done: make(chan struct{})}
	go func() {
		defer close(one.done)
		ctx, cancel := context.WithTimeout(context.Background(), with.Timeout)
		defer cancel()
		if one.conn, one.err = d.dial(ctx, addr, with, t); one.err == nil {
			one.conn, one.err = d.note(one.conn)
		}
	}()
	return one
}

func (d *dialer) note(conn net.Conn) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errors.Join(net.ErrClosed, conn.Close())
	}
	if d.delay {
		disableNoDelay(conn)
	}
	known := &openConn{Conn: conn, dialer: d}
	d.open[known] = struct{}{}
	return known, nil
}

// leave keeps a connection for whoever needs one to addr, for a while.
func (d *dialer) leave(addr string, one *dialing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.waiting[addr] != nil {
		go one.close()
		return
	}
	d.waiting[addr] = one
	time.AfterFunc(d.keep, func() {
		d.mu.Lock()
		kept := d.waiting[addr] == one
		if kept {
			delete(d.waiting, addr)
		}
		d.mu.Unlock()
		if kept {
			one.close()
		}
	})
}

// close ends all that is open, and what is in the making once it is made.
func (d *dialer) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	clear(d.waiting)
	for conn := range d.open {
		delete(d.open, conn)
		_ = conn.Conn.Close() // whoever uses it hears of it
	}
}

// failed tells whether it has ended without a connection.
func (one *dialing) failed() bool {
	select {
	case <-one.done:
		return one.err != nil
	default:
		return false
	}
}

// close closes the connection once there is one.
func (one *dialing) close() {
	<-one.done
	if one.conn != nil {
		_ = one.conn.Close() // nobody has used it
	}
}
