package redistest_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/redistest"
)

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// ping sends n at once and gives how long their replies took.
func ping(c net.Conn, n int, within time.Duration) (time.Duration, error) {
	began := time.Now()
	_ = c.SetDeadline(began.Add(within))
	for range n {
		if _, err := io.WriteString(c, "PING\r\n"); err != nil {
			return 0, err
		}
	}
	_, err := io.ReadFull(c, make([]byte, n*len("+PONG\r\n")))
	return time.Since(began), err
}

func TestProxyDelaysReplies(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr())
	c := dial(t, p.Addr())
	_, err := ping(c, 1, time.Second)
	require.NoError(t, err)

	p.Delay(100 * time.Millisecond)
	took, err := ping(c, 1, 5*time.Second)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, took, 100*time.Millisecond)
	took, err = ping(c, 50, 5*time.Second)
	require.NoError(t, err)
	assert.Less(t, took, 2*time.Second, "replies do not queue for their delay")
	p.Heal()
	_, err = ping(c, 1, time.Second)
	require.NoError(t, err)
	assert.Equal(t, 1, p.Accepted())
	assert.Equal(t, 1, p.Open())
}

func TestProxyDropsReplies(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr())
	c, idle := dial(t, p.Addr()), dial(t, p.Addr())
	for _, c := range []net.Conn{c, idle} {
		_, err := ping(c, 1, time.Second)
		require.NoError(t, err)
	}
	p.DropReplies(true)
	_, err := io.WriteString(c, "SET a 1\r\n")
	require.NoError(t, err)
	_, err = ping(c, 1, 200*time.Millisecond)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	assert.Equal(t, []string{"a"}, s.Keys(t, "*"), "the command was executed")

	p.Heal()
	_, err = ping(c, 1, time.Second)
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the connection is reset: its replies would be shifted")
	_, err = ping(idle, 1, time.Second)
	require.NoError(t, err, "this one lost nothing")
}

func TestProxyIsABlackHole(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr())
	before := dial(t, p.Addr())
	_, err := ping(before, 1, time.Second)
	require.NoError(t, err)
	p.BlackHole(true)
	during := dial(t, p.Addr())
	for _, c := range []net.Conn{before, during} {
		_, err := ping(c, 1, 200*time.Millisecond)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	}
	p.Heal()
	for _, c := range []net.Conn{before, during} {
		_, err := ping(c, 1, time.Second)
		require.Error(t, err)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
	}
	_, err = ping(dial(t, p.Addr()), 1, time.Second)
	require.NoError(t, err)
	assert.Equal(t, 3, p.Accepted())
}

func TestProxyResetsAndRefuses(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr())
	c := dial(t, p.Addr())
	_, err := ping(c, 1, time.Second)
	require.NoError(t, err)
	p.Refuse(true)
	assert.True(t, refused(p.Addr()))
	_, err = ping(c, 1, time.Second)
	require.NoError(t, err, "what is open goes on")

	p.Reset()
	_, err = c.Read(make([]byte, 1))
	require.ErrorIs(t, err, syscall.ECONNRESET)
	p.Heal()
	_, err = ping(dial(t, p.Addr()), 1, time.Second)
	require.NoError(t, err)

	s.Kill(t)
	c, err = net.Dial("tcp", p.Addr())
	if err == nil { // Otherwise it was reset before it was even made.
		_, err = ping(c, 1, time.Second)
		_ = c.Close()
	}
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the end of the server is handed on")
	redistest.Wait(t, time.Second, "connections to end", func() error {
		if p.Open() != 0 {
			return errors.New("open")
		}
		return nil
	})
}

// TestProxyUnderLoad is for the race detector, and for a client that recovers
// from whatever happens in between.
func TestProxyUnderLoad(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr())
	client := s.Client(t, redistest.Through(p))
	incr := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		return client.Do(ctx, client.B().Incr().Key("n").Build()).Error()
	}
	stop := make(chan struct{})
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = incr() // Errors are what the proxy is for.
				}
			}
		})
	}
	for range 5 {
		for _, harm := range []func(){
			func() { p.Delay(10 * time.Millisecond) },
			func() { p.DropReplies(true) },
			func() { p.BlackHole(true) },
			func() { p.Refuse(true) },
			p.Reset,
		} {
			harm()
			<-time.After(10 * time.Millisecond)
		}
		p.Heal()
	}
	close(stop)
	workers.Wait()
	redistest.Wait(t, 5*time.Second, "the client to recover", incr)
}
