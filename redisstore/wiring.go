package redisstore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync/atomic"

	"github.com/redis/rueidis"
)

// defaultRing is the exponent of what a connection's ring holds.
const defaultRing = 10

// wiring tells all that makes o unusable for ever, which trying again in the
// background would hide.
func wiring(o rueidis.ClientOption, most int64) error {
	var faults []error
	if len(o.InitAddress) == 0 {
		faults = append(faults, errors.New("redisstore: Open needs an InitAddress"))
	} else if err := refused(o); err != nil {
		faults = append(faults, fmt.Errorf("redisstore: Open: %w", err))
	}
	scale := o.RingScaleEachConn
	if scale <= 0 { // as rueidis takes it
		scale = defaultRing
	}
	if ring := int64(1) << min(scale, 62); most >= ring {
		faults = append(faults, fmt.Errorf("redisstore: WithMaxInFlight(%d), must be below the ring of a connection, %d, "+
			"which rueidis.ClientOption.RingScaleEachConn sets", most, ring))
	}
	return errors.Join(faults...)
}

// refused is what rueidis has against o before it connects to anything.
func refused(o rueidis.ClientOption) error {
	var dialed atomic.Bool
	o.InitAddress = slices.Clone(o.InitAddress) // rueidis shuffles it in place, while it still reads it elsewhere
	o.DialCtxFn = func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) {
		dialed.Store(true)
		return nil, net.ErrClosed
	}
	client, err := rueidis.NewClient(o)
	if client != nil {
		client.Close()
	}
	if dialed.Load() {
		return nil
	}
	return err //nolint:wrapcheck // by the caller
}
