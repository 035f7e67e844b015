package overredis

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tierlimit/tierlimit/internal/redistest"
)

// limit is what all contenders judge by: burst units at once, and one more in
// each period. Those with fixed windows grant burst units in burst periods.
type limit struct {
	burst  int
	period time.Duration
}

func (l limit) window() time.Duration { return time.Duration(l.burst) * l.period }

// check asks for one unit of a caller.
type check func(ctx context.Context, id string) (allowed bool, err error)

// contender is a limiter over Redis. Its client is closed when tb ends.
type contender struct {
	name string
	open func(tb testing.TB, p place, l limit) check
}

const (
	nameOurs      = "redisstore"
	nameDenying   = "denystore over redisstore"
	nameRedisRate = "redis_rate"
	namePiped     = "redis_rate, AutoPipeline"
	nameThrottled = "throttled"
	nameUlule     = "ulule"

	nameFixedWindow = "redisstore, fixed window"
	nameSlidingLog  = "redisstore, sliding log"
)

// all are those that judge by every check, ours first.
func all() []contender {
	return []contender{
		{nameOurs, openOurs},
		{nameRedisRate, openRedisRate},
		{namePiped, openPiped},
		{nameThrottled, openThrottled},
		{nameUlule, openUlule},
	}
}

// place is a server and the way to it.
type place struct {
	server *redistest.Server
	// writes, if it is there, counts what is written to the server: with one
	// check at a time, a write is a round trip.
	writes *atomic.Int64
}

// dial is nil unless writes are counted, so that a client has its own kind of
// connection where it is timed.
func (p place) dial() func(ctx context.Context, network, addr string) (net.Conn, error) {
	if p.writes == nil {
		return nil
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, network, addr)
		return &countedConn{c, p.writes}, err
	}
}

type countedConn struct {
	net.Conn

	writes *atomic.Int64
}

func (c *countedConn) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}
