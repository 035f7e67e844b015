package redisstore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
)

// Open makes a store that owns its client: single, Cluster or Sentinel, as o
// says. It returns at once and connects in the background until it succeeds,
// so a service starts while Redis is down and limits as soon as Redis is there;
// until then a check is [ErrUnreachable]. Use [Store.Ready] to wait, and
// [Store.Close] at the end. The error is for options that can never work: no
// address, those that rueidis refuses, a cap on the checks in flight that one
// connection's ring does not hold.
//
// For a limiter there is no client-side cache, and always pipelining. What o
// leaves open is set: a write timeout of 1 s, a dial timeout and keep-alive of
// 500 ms, a look at the topology of a Cluster or Sentinel every 5 s, and at
// most 3 redirections of a check in a Cluster.
func Open(o rueidis.ClientOption, opts ...Option) (*Store, error) {
	s := newStore(opts)
	o = withDefaults(o)
	if err := wiring(o, s.guard.most); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	dialer := newDialer(o.DialCtxFn)
	dialer.delay = o.DisableTCPNoDelay
	o.DialCtxFn = dialer.get
	s.opener = &opener{option: o, dialer: dialer, cancel: cancel, done: make(chan struct{}), connected: make(chan struct{})}
	go s.opener.run(ctx, s)
	return s, nil
}

func withDefaults(o rueidis.ClientOption) rueidis.ClientOption {
	o.InitAddress = slices.Clone(o.InitAddress) // the caller's stays
	o.DisableCache = true
	o.AlwaysPipelining, o.DisableAutoPipelining = true, false
	if o.ConnWriteTimeout == 0 {
		o.ConnWriteTimeout = time.Second
	}
	if o.Dialer.Timeout == 0 {
		o.Dialer.Timeout = 500 * time.Millisecond
	}
	if o.Dialer.KeepAlive == 0 {
		o.Dialer.KeepAlive = 500 * time.Millisecond
	}
	if o.Sentinel.Dialer.Timeout == 0 {
		o.Sentinel.Dialer.Timeout = o.Dialer.Timeout
	}
	if o.Sentinel.Dialer.KeepAlive == 0 {
		o.Sentinel.Dialer.KeepAlive = o.Dialer.KeepAlive
	}
	if o.Sentinel.MasterSet != "" && o.Sentinel.TopologyRefreshInterval == 0 {
		o.Sentinel.TopologyRefreshInterval = 5 * time.Second
	}
	if o.ClusterOption.ShardsRefreshInterval == 0 {
		o.ClusterOption.ShardsRefreshInterval = 5 * time.Second
	}
	if o.ClusterOption.MaxMovedRedirections == 0 {
		o.ClusterOption.MaxMovedRedirections = 3
	}
	if dial := o.DialFn; o.DialCtxFn == nil && dial != nil {
		o.DialCtxFn = func(_ context.Context, addr string, d *net.Dialer, t *tls.Config) (net.Conn, error) {
			return dial(addr, d, t)
		}
	}
	if o.DialCtxFn == nil {
		o.DialCtxFn = dialPlainly
	}
	return o
}

// opener connects in the background.
type opener struct {
	option    rueidis.ClientOption
	dialer    *dialer
	cancel    context.CancelFunc
	connected chan struct{} // closed when there is a client
	done      chan struct{} // closed when run has ended
	last      atomic.Pointer[error]
	closing   sync.Once
}

const (
	firstPause = 50 * time.Millisecond
	maxPause   = time.Second
)

// run tries until there is a client that has answered once.
func (o *opener) run(ctx context.Context, s *Store) {
	defer close(o.done)
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		option := o.option
		option.InitAddress = slices.Clone(option.InitAddress) // as in refused
		client, err := rueidis.NewClient(option)
		if err == nil {
			o.dialer.hurry(s.guard.timeout)
			s.connect(client)
			close(o.connected)
			return
		}
		if client != nil {
			client.Close()
		}
		o.last.Store(&err)
		jittered := time.Duration(float64(pause) * (0.75 + rand.Float64()/2)) //nolint:gosec // jitter
		select {
		case <-ctx.Done():
			return
		case <-time.After(jittered):
		}
	}
}

// errClosed is why a store that was closed answers nothing.
var errClosed = errors.New("the store is closed")

// notYet is the error of a check while there is no connection.
func (o *opener) notYet() error {
	err := o.last.Load()
	switch {
	case err == nil:
		return fmt.Errorf("%w: not connected yet", ErrUnreachable)
	case errors.Is(*err, errClosed):
		return fmt.Errorf("%w: %w", ErrUnreachable, *err)
	case isRedisError(*err): // a wrong password, and the like
		return fmt.Errorf("%w: not connected yet: %w", ErrUnreachable, classify(*err))
	default:
		return fmt.Errorf("%w: not connected yet: %w", ErrUnreachable, *err)
	}
}

func (s *Store) closed() bool {
	if s.opener == nil {
		return false
	}
	select {
	case <-s.opener.done:
		return s.connection.Load() == nil
	default:
		return false
	}
}

// Close ends what [Open] began: it stops connecting, waits for it and closes
// the client. A check afterwards is [ErrUnreachable]. It may be called several
// times and concurrently; on a store made by [New] it does nothing.
func (s *Store) Close() {
	if s.opener == nil {
		return
	}
	s.opener.closing.Do(func() {
		s.opener.cancel()
		<-s.opener.done
		s.opener.last.Store(&errClosed)
		if conn := s.connection.Swap(nil); conn != nil {
			conn.client.Close()
		}
		s.opener.dialer.close()
	})
	<-s.opener.done
}
