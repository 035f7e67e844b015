package redistest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/rueidis"
)

const (
	// MasterName is what the Sentinels call their master.
	MasterName = "mymaster"

	sentinels = 3
	// sentinelWithin bounds what Sentinels do by themselves: a failover takes
	// about 3 s.
	sentinelWithin = 30 * time.Second
)

// Sentinel is a master with two replicas and three Sentinels over them, of whom
// two must agree. They call the master dead after 1 s of silence.
type Sentinel struct {
	servers   []*Server
	sentinels []*Server
}

// StartSentinel starts them and returns when the replicas are in sync and the
// Sentinels know each other and the replicas. The options are those of the data
// servers.
func StartSentinel(tb testing.TB, opts ...Option) *Sentinel {
	tb.Helper()
	s := &Sentinel{}
	master := launch(tb, Reserve(tb), opts...)
	if master.config.tls {
		tb.Fatal("redistest: Sentinels of this package speak plain text")
	}
	s.servers = append(s.servers, master)
	for range 2 {
		s.servers = append(s.servers, launch(tb, Reserve(tb),
			append(slices.Clone(opts), WithConfig(fmt.Sprintf("replicaof 127.0.0.1 %d", master.Port())))...))
	}
	for _, server := range s.servers {
		server.ready(tb)
	}
	// A Sentinel looks for replicas at once, and then not for 10 s.
	s.waitServers(tb)
	for range sentinels {
		s.sentinels = append(s.sentinels, launch(tb, Reserve(tb), asSentinel(master)))
	}
	for _, sentinel := range s.sentinels {
		sentinel.ready(tb)
		hurry(sentinel)
	}
	s.WaitOK(tb)
	return s
}

func asSentinel(master *Server) Option {
	return func(c *config) {
		c.sentinel = true
		c.lines = append(c.lines,
			fmt.Sprintf("sentinel monitor %s 127.0.0.1 %d 2", MasterName, master.Port()),
			"sentinel down-after-milliseconds "+MasterName+" 1000",
			"sentinel failover-timeout "+MasterName+" 3000",
			"sentinel parallel-syncs "+MasterName+" 2")
		if master.config.password != "" {
			c.lines = append(c.lines, "sentinel auth-pass "+MasterName+" "+master.config.password)
		}
	}
}

// hurry has a Sentinel tell of itself and look around more often than every 2 s
// and every 10 s, from Redis 7 on. What it does in a failover keeps its pace.
func hurry(sentinel *Server) {
	_, _ = sentinel.ask("sentinel", "debug", "publish-period", 200, "info-period", 1000) // Without it all takes longer.
}

// Master is the server that the Sentinels call so, alive or not.
func (s *Sentinel) Master(tb testing.TB) *Server {
	tb.Helper()
	master, err := s.master()
	if err != nil {
		tb.Fatal(err)
	}
	return master
}

// MasterAddr is the address of [Sentinel.Master].
func (s *Sentinel) MasterAddr(tb testing.TB) string {
	tb.Helper()
	return s.Master(tb).addr
}

// Replicas are the servers that are not [Sentinel.Master].
func (s *Sentinel) Replicas(tb testing.TB) []*Server {
	tb.Helper()
	master := s.Master(tb)
	return slices.DeleteFunc(slices.Clone(s.servers), func(server *Server) bool { return server == master })
}

// Sentinels are the three processes that watch.
func (s *Sentinel) Sentinels() []*Server { return s.sentinels }

// SentinelAddrs are the addresses of the Sentinels.
func (s *Sentinel) SentinelAddrs() []string { return addrs(s.sentinels) }

// ClientOption is how [Sentinel.Client] connects.
func (s *Sentinel) ClientOption() rueidis.ClientOption {
	o := baseOption(s.servers[0].config.password, s.SentinelAddrs()...)
	o.Sentinel = rueidis.SentinelOption{MasterSet: MasterName, Dialer: o.Dialer}
	return o
}

// Client is [Server.Client] for the master, whichever it is.
func (s *Sentinel) Client(tb testing.TB, change ...func(*rueidis.ClientOption)) rueidis.Client {
	tb.Helper()
	return newClient(tb, s.ClientOption(), change, append(slices.Clone(s.servers), s.sentinels...)...)
}
