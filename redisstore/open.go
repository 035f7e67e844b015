package redisstore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
)

// Open makes a store that owns its client: single, Cluster or Sentinel, as o
// says. It returns at once and connects in the background until it succeeds,
// so a service starts while Redis is down and limits as soon as Redis is there;
// until then a check is [ErrUnreachable]. Use [Store.Ready] to wait, and
// [Store.Close] at the end. The error is for options without an address.
//
// What o leaves open is set for a limiter: no client-side cache, pipelining, a
// write timeout of 1 s, a dial timeout and keep-alive of 500 ms, and for
// Sentinel a look at the topology every 5 s.
func Open(o rueidis.ClientOption, opts ...Option) (*Store, error) {
	if len(o.InitAddress) == 0 {
		return nil, errors.New("redisstore: Open needs an InitAddress")
	}
	s := newStore(opts)
	ctx, cancel := context.WithCancel(context.Background())
	o = withDefaults(o)
	dialer := newDialer(o.DialCtxFn)
	dialer.delay = o.DisableTCPNoDelay
	o.DialCtxFn = dialer.get
	s.opener = &opener{option: o, dialer: dialer, cancel: cancel, done: make(chan struct{}), connected: make(chan struct{})}
	go s.opener.run(ctx, s)
	return s, nil
}

func withDefaults(o rueidis.ClientOption) rueidis.ClientOption {
	o.DisableCache = true
	o.AlwaysPipelining = true
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
		client, err := rueidis.NewClient(o.option)
		if err == nil {
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

// Ready waits until Redis answers, for services that do not want to start
// without it. The error is that of ctx with what went wrong last, or
// [ErrUnreachable] once the store is closed. It does not need [Open]: on the
// caller's own client it waits for an answer as well.
func (s *Store) Ready(ctx context.Context) error {
	if s.opener != nil {
		select {
		case <-s.opener.connected:
		case <-s.opener.done:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), s.opener.notYet())
		}
	}
	for {
		err := s.ping(ctx)
		if err == nil || s.closed() {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(firstPause):
		}
	}
}

func (s *Store) ping(ctx context.Context) error {
	conn := s.connection.Load()
	if conn == nil {
		return s.opener.notYet()
	}
	answers := make(chan error, 1)
	go func() { answers <- conn.client.Do(s.guard.shared(), conn.client.B().Ping().Build()).Error() }()
	select {
	case err := <-answers:
		if isRedisError(err) {
			return nil // no right to ping is an answer too
		}
		return classify(err)
	case <-ctx.Done():
		return ErrTimeout
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
