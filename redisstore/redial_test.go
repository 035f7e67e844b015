package redisstore_test

import (
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// TestChecksDoNotWaitForAConnectionThatAnotherMakes: rueidis looks at what
// Sentinel tells without a deadline, and checks share the connection that it
// makes for that.
func TestChecksDoNotWaitForAConnectionThatAnotherMakes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes 10 s")
	}
	sentinel := redistest.StartSentinel(t)
	master := sentinel.Master(t)
	var hole atomic.Int32
	o := sentinel.ClientOption()
	o.Dialer, o.Sentinel.Dialer, o.ConnWriteTimeout = net.Dialer{}, net.Dialer{}, 0
	o.Sentinel.TopologyRefreshInterval = 500 * time.Millisecond
	o.DialCtxFn = func(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
		if addr == master.Addr() {
			switch hole.Load() {
			case 1: // SYNs are dropped
				<-ctx.Done()
				return nil, ctx.Err()
			case 2: // it accepts and is silent
				conn, _ := net.Pipe()
				return conn, nil
			}
		}
		return d.DialContext(ctx, "tcp", addr)
	}
	s := open(t, o, redisstore.WithBreaker(1<<30, time.Second)) // so that all try
	ready(t, s)
	answers(t, s)
	for _, kind := range []int32{1, 2} {
		hole.Store(kind)
		master.Do(t, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
		silent := send(t, 200, 3*time.Second, func(int) error { return ask(s) })
		noise := quantile(silent.late, 0.99)
		t.Logf("%d checks, p99 %v, noise %v", len(silent.took), quantile(silent.took, 0.99), noise)
		// Other tests run beside; waiting for the others' connection took 160 ms and more.
		require.LessOrEqual(t, quantile(silent.took, 0.99), 130*time.Millisecond+3*noise)
		hole.Store(0)
		redistest.Wait(t, 10*time.Second, "an answer", func() error { return ask(s) })
	}
	require.NotEmpty(t, master.Addr())
}
