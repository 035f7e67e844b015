package redisstore_test

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

func TestOpenWithTLSPasswordAndUser(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.WithTLS(), redistest.WithPassword("secret"),
		redistest.WithUser("limiter", "on", ">hunter2", "~trt:*", "+evalsha", "+eval", "+get", "+set", "+time", "+ping"))
	o := rueidis.ClientOption{InitAddress: []string{server.Addr()}, TLSConfig: server.TLS(), Password: "secret"}
	s := open(t, o)
	ready(t, s)
	answers(t, s)

	o.Username, o.Password, o.ForceSingleClient = "limiter", "hunter2", true
	s = open(t, o)
	ready(t, s)
	answers(t, s)
}

func TestAWrongPasswordIsToldAsSuch(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.WithPassword("secret"))
	for password, want := range map[string]string{"guess": "WRONGPASS", "": "NOAUTH"} {
		for _, single := range []bool{true, false} {
			s := open(t, rueidis.ClientOption{InitAddress: []string{server.Addr()}, Password: password, ForceSingleClient: single})
			redistest.Wait(t, patient, "the refusal", func() error {
				if err := ask(s); !strings.Contains(err.Error(), want) {
					return err
				}
				return nil
			})
			require.ErrorIs(t, ask(s), redisstore.ErrUnreachable)
			require.ErrorIs(t, ask(s), redisstore.ErrRefused, "it was Redis who refused")
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			require.ErrorContains(t, s.Ready(ctx), want)
			cancel()
		}
	}
}

func TestPlainTextToTLSIsUnreachable(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.WithTLS())
	s := open(t, rueidis.ClientOption{InitAddress: []string{server.Addr()}})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.Ready(ctx), redisstore.ErrUnreachable)
	require.ErrorIs(t, ask(s), redisstore.ErrUnreachable)
}

// TestAHandshakeMayTakeLongerThanACheck: a round trip takes 60 ms, so that TLS
// and HELLO together take longer than a check may.
func TestAHandshakeMayTakeLongerThanACheck(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.WithTLS())
	proxy := redistest.NewProxy(t, server.Addr())
	proxy.Delay(60 * time.Millisecond)
	s := open(t, rueidis.ClientOption{InitAddress: []string{proxy.Addr()}, TLSConfig: server.TLS()})
	ready(t, s)
	for range 3 {
		redistest.Wait(t, 5*time.Second, "ten answers", func() error {
			for range 10 { // by all connections
				if err := ask(s); err != nil {
					return err
				}
			}
			return nil
		})
		proxy.Reset()
	}
}

func TestADialFunctionOfTheCallersIsUsed(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	elsewhere := []string{redistest.Reserve(t)}
	for _, o := range []rueidis.ClientOption{
		{InitAddress: elsewhere, DialCtxFn: dialCtx(server.Addr()), DisableTCPNoDelay: true},
		{InitAddress: elsewhere, DialFn: dial(server.Addr())},
	} {
		s := open(t, o)
		ready(t, s)
		answers(t, s)
	}
}

type (
	dialFn    = func(string, *net.Dialer, *tls.Config) (net.Conn, error)
	dialCtxFn = func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error)
)

// dial goes to addr, whatever is asked for.
func dial(addr string) dialFn {
	return func(_ string, d *net.Dialer, _ *tls.Config) (net.Conn, error) { return d.Dial("tcp", addr) }
}

func dialCtx(addr string) dialCtxFn {
	return func(ctx context.Context, _ string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
		return d.DialContext(ctx, "tcp", addr)
	}
}
