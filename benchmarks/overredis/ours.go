package overredis

import (
	"context"
	"crypto/tls"
	"net"
	"testing"
	"time"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/denystore"
	"github.com/tierlimit/tierlimit/redisstore"
)

const plan = "free"

func openOurs(tb testing.TB, p place, l limit) check {
	tb.Helper()
	return taking(openStore(tb, p), gcra(l))
}

func openDenying(tb testing.TB, p place, l limit) check {
	tb.Helper()
	return taking(denystore.New(openStore(tb, p)), gcra(l))
}

func openFixedWindow(tb testing.TB, p place, l limit) check {
	tb.Helper()
	return taking(openStore(tb, p), core.Per(l.burst, l.window()).Using(core.FixedWindow))
}

func openSlidingLog(tb testing.TB, p place, l limit) check {
	tb.Helper()
	return taking(openStore(tb, p), core.Per(l.burst, l.window()).Using(core.SlidingLog))
}

func gcra(l limit) core.Quota { return core.Per(1, l.period).WithBurst(l.burst) }

// openStore gives a store that waits as long as its rivals, which have no
// deadline of their own: an answer in time is not what is compared.
func openStore(tb testing.TB, p place) *redisstore.Store {
	tb.Helper()
	option := p.server.ClientOption()
	if dial := p.dial(); dial != nil {
		option.DialCtxFn = func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
			return dial(ctx, "tcp", addr)
		}
	}
	store, err := redisstore.Open(option, redisstore.WithTimeout(time.Minute))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(store.Close)
	if err := store.Ready(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return store
}

func taking(store core.Store, quota core.Quota) check {
	limits := quota.Limits()
	return func(ctx context.Context, id string) (bool, error) {
		r, err := store.Take(ctx, core.Request{Key: core.Key{Tier: plan, ID: id}, Limits: limits, Cost: 1})
		return r.Allowed, err
	}
}
