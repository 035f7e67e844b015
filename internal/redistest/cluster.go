package redistest

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/redis/rueidis"
)

const (
	masters  = 3
	replicas = 3

	// clusterWithin bounds what a cluster does by itself: a failover takes about
	// 4 s, and its nodes wait 2 s after a start.
	clusterWithin = 30 * time.Second
)

// Cluster is a Redis Cluster of three masters and three replicas, which calls a
// node dead after 2 s of silence.
type Cluster struct {
	nodes    []*Server
	password string
}

// StartCluster starts a cluster and returns when all of its nodes agree and all
// replicas are in sync, after about 3 s. The options are those of each node.
func StartCluster(tb testing.TB, opts ...Option) *Cluster {
	tb.Helper()
	opts = append(opts, WithConfig(
		"cluster-enabled yes",
		"cluster-node-timeout 2000",
		// However old its data, a replica takes over: a test has no better one.
		"cluster-replica-validity-factor 0",
		// A replica stays with its master, so that tests find it there.
		"cluster-allow-replica-migration no",
	))
	c := &Cluster{}
	for range masters + replicas {
		c.nodes = append(c.nodes, launch(tb, Reserve(tb), opts...))
	}
	c.password = c.nodes[0].config.password
	for _, n := range c.nodes {
		n.ready(tb)
	}
	c.join(tb)
	c.WaitOK(tb)
	return c
}

// join makes single nodes a cluster. redis-cli would do the same and sleep in
// between.
func (c *Cluster) join(tb testing.TB) {
	tb.Helper()
	const share = Slots / masters
	for i, n := range c.nodes {
		// Different epochs from the start spare the nodes a vote about them.
		n.Do(tb, "cluster", "set-config-epoch", i+1)
		for _, other := range c.nodes[:i] {
			// All with all: gossip alone takes seconds.
			n.Do(tb, "cluster", "meet", "127.0.0.1", other.Port())
		}
		if i >= masters {
			continue
		}
		last := (i+1)*share - 1
		if i == masters-1 {
			last = Slots - 1
		}
		words := []any{"cluster", "addslots"}
		for slot := i * share; slot <= last; slot++ {
			words = append(words, slot)
		}
		n.Do(tb, words...)
	}
	for i, n := range c.nodes[masters:] {
		id := c.nodes[i].Do(tb, "cluster", "myid")
		Wait(tb, clusterWithin, n.addr+" to know its master", func() error {
			_, err := n.ask("cluster", "replicate", id)
			return err
		})
	}
}

// WaitOK returns when every node that runs says that the cluster is well, when
// all agree on who has which slots, and when their replicas are in sync. A
// failover is over by then if it was noticed, so wait for that first.
func (c *Cluster) WaitOK(tb testing.TB) {
	tb.Helper()
	Wait(tb, clusterWithin, "the cluster to be well", func() error {
		var agreed string
		for _, n := range c.nodes {
			if !n.answers() {
				continue
			}
			view, err := n.view()
			if err != nil {
				return err
			}
			state := view.String()
			if agreed == "" {
				agreed = state
			}
			if state != agreed {
				return fmt.Errorf("%s sees %s, another %s", n.addr, state, agreed)
			}
			if err := errors.Join(n.clusterOK(), n.inSync()); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Server) clusterOK() error {
	reply, err := s.ask("cluster", "info")
	if err != nil {
		return err
	}
	info := fields(reply)
	if info["cluster_state"] != "ok" || info["cluster_slots_ok"] != strconv.Itoa(Slots) || info["cluster_known_nodes"] != strconv.Itoa(masters+replicas) {
		return fmt.Errorf("redistest: %s says %v", s.addr, reply)
	}
	return nil
}

// inSync says whether the server is a master or has all of its master's data.
func (s *Server) inSync() error {
	info, err := s.info("replication")
	switch {
	case err != nil:
		return err
	case info["role"] == "slave" && (info["master_link_status"] != "up" || info["master_sync_in_progress"] != "0"):
		return fmt.Errorf("redistest: %s is not in sync", s.addr)
	}
	return nil
}

// Nodes are all nodes, those that started as masters first.
func (c *Cluster) Nodes() []*Server { return c.nodes }

// Node is the i-th of [Cluster.Nodes]: 0 to 2 started as masters, 3 to 5 as
// their replicas, in the same order.
func (c *Cluster) Node(i int) *Server { return c.nodes[i] }

// Addrs are the addresses of all nodes.
func (c *Cluster) Addrs() []string { return addrs(c.nodes) }

func addrs(servers []*Server) []string {
	list := make([]string, len(servers))
	for i, s := range servers {
		list[i] = s.addr
	}
	return list
}

// ClientOption is how [Cluster.Client] connects.
func (c *Cluster) ClientOption() rueidis.ClientOption {
	o := baseOption(c.password, c.Addrs()...)
	o.TLSConfig = c.nodes[0].TLS()
	o.ClusterOption = rueidis.ClusterOption{ShardsRefreshInterval: time.Second, MaxMovedRedirections: 3}
	return o
}

// Client is [Server.Client] for the cluster.
func (c *Cluster) Client(tb testing.TB, change ...func(*rueidis.ClientOption)) rueidis.Client {
	tb.Helper()
	return newClient(tb, c.ClientOption(), change, c.nodes...)
}
