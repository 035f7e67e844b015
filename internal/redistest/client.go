package redistest

import (
	"net"
	"testing"
	"time"

	"github.com/redis/rueidis"
)

// ClientOption is how [Server.Client] connects.
func (s *Server) ClientOption() rueidis.ClientOption {
	o := baseOption(s.config.password, s.Addr())
	// Otherwise a new client asks whether this is a cluster.
	o.ForceSingleClient = true
	o.TLSConfig = s.TLS()
	return o
}

// Client gives a client of the server, which is closed when the test ends.
// change has the last word on its options, see [As] and [Through].
func (s *Server) Client(tb testing.TB, change ...func(*rueidis.ClientOption)) rueidis.Client {
	tb.Helper()
	return newClient(tb, s.ClientOption(), change, s)
}

// As is a change of a client's options: another user than the default one.
func As(user, password string) func(*rueidis.ClientOption) {
	return func(o *rueidis.ClientOption) { o.Username, o.Password = user, password }
}

// Through is a change of a client's options: it connects to the proxy, which
// must lead to the client's server.
func Through(p *Proxy) func(*rueidis.ClientOption) {
	return func(o *rueidis.ClientOption) { o.InitAddress = []string{p.Addr()} }
}

// baseOption are options with which a connection that fell silent is given up
// within about 2 s, instead of 12 s by default. A new one may take 3 s: on a
// busy machine the handshake of TLS is slow.
func baseOption(password string, addrs ...string) rueidis.ClientOption {
	return rueidis.ClientOption{
		InitAddress:      addrs,
		Password:         password,
		DisableCache:     true,
		AlwaysPipelining: true,
		ConnWriteTimeout: time.Second,
		Dialer:           net.Dialer{Timeout: 3 * time.Second, KeepAlive: 500 * time.Millisecond},
	}
}

func newClient(tb testing.TB, o rueidis.ClientOption, change []func(*rueidis.ClientOption), servers ...*Server) rueidis.Client {
	tb.Helper()
	for _, f := range change {
		f(&o)
	}
	client, err := rueidis.NewClient(o)
	if err != nil {
		tb.Fatal("redistest: client:", err)
	}
	tb.Cleanup(func() {
		// Close waits for the answers that are due, and a frozen server owes them.
		for _, s := range servers {
			_ = s.thaw() // It may be gone.
		}
		client.Close()
	})
	return client
}
