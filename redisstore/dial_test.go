package redisstore

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slowDial gives connections when it is told to.
type slowDial struct {
	answers chan error // nil: a connection
	dials   atomic.Int64
	closed  atomic.Int64
}

type countedConn struct {
	net.Conn

	closed *atomic.Int64
}

func (c countedConn) Close() error { c.closed.Add(1); return nil }

func (s *slowDial) dial(ctx context.Context, _ string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
	s.dials.Add(1)
	select {
	case err := <-s.answers:
		if err != nil {
			return nil, err
		}
		return countedConn{closed: &s.closed}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func newSlowDialer() (*dialer, *slowDial) {
	s := &slowDial{answers: make(chan error, 10)}
	return newDialer(s.dial), s
}

func get(t *testing.T, d *dialer, within time.Duration) (net.Conn, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	return d.get(ctx, "a:1", &net.Dialer{Timeout: time.Minute}, nil)
}

func eventually(t *testing.T, is func() bool) {
	t.Helper()
	require.Eventually(t, is, 10*time.Second, time.Millisecond)
}

func TestAConnectionThatCameTooLateIsForTheNext(t *testing.T) {
	t.Parallel()
	d, s := newSlowDialer()
	_, err := get(t, d, time.Millisecond)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	s.answers <- nil
	conn, err := get(t, d, time.Minute)
	require.NoError(t, err)
	require.NotNil(t, conn)
	require.EqualValues(t, 1, s.dials.Load())
	require.Zero(t, s.closed.Load())
}

func TestAConnectionThatLeavesNoTimeForMoreIsForTheNext(t *testing.T) {
	t.Parallel()
	d, s := newSlowDialer()
	time.AfterFunc(600*time.Millisecond, func() { s.answers <- nil })
	_, err := get(t, d, time.Second)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = get(t, d, time.Minute)
	require.NoError(t, err)
	require.EqualValues(t, 1, s.dials.Load())
}

func TestAFailureIsNotForTheNext(t *testing.T) {
	t.Parallel()
	d, s := newSlowDialer()
	_, err := get(t, d, time.Millisecond)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	d.mu.Lock()
	late := d.waiting["a:1"]
	d.mu.Unlock()
	s.answers <- errors.New("refused")
	<-late.done
	s.answers <- nil
	_, err = get(t, d, time.Minute)
	require.NoError(t, err)
	require.EqualValues(t, 2, s.dials.Load())

	s.answers <- errors.New("refused")
	_, err = get(t, d, time.Minute)
	require.EqualError(t, err, "refused")
}

func TestWhatNobodyNeedsIsClosed(t *testing.T) {
	t.Parallel()
	d, s := newSlowDialer()
	d.keep = time.Millisecond
	_, err := get(t, d, time.Millisecond)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	s.answers <- nil
	eventually(t, func() bool { return s.closed.Load() == 1 })
	require.Empty(t, d.waiting)

	d.keep = time.Hour
	for range 3 { // one is kept
		s.answers <- nil
		one := d.start("b:1", &net.Dialer{Timeout: time.Minute}, nil)
		d.leave("b:1", one)
	}
	eventually(t, func() bool { return s.closed.Load() == 3 })
	d.close()
	eventually(t, func() bool { return s.closed.Load() == 4 })
	s.answers <- nil
	d.leave("b:1", d.start("b:1", &net.Dialer{Timeout: time.Minute}, nil))
	eventually(t, func() bool { return s.closed.Load() == 5 })
}

// TestCloseEndsWhatIsOpen, also what comes about meanwhile.
func TestCloseEndsWhatIsOpen(t *testing.T) {
	t.Parallel()
	d, s := newSlowDialer()
	s.answers <- nil
	s.answers <- nil
	one, err := get(t, d, time.Minute)
	require.NoError(t, err)
	_, err = get(t, d, time.Minute)
	require.NoError(t, err)
	require.NoError(t, one.Close())
	require.Len(t, d.open, 1, "who closes is forgotten")
	late := d.start("b:1", &net.Dialer{Timeout: time.Minute}, nil)

	d.close()
	require.EqualValues(t, 2, s.closed.Load())
	require.Empty(t, d.open)
	s.answers <- nil
	<-late.done
	require.ErrorIs(t, late.err, net.ErrClosed)
	require.EqualValues(t, 3, s.closed.Load())
}
