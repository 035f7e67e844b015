package redistest

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"testing"
	"time"
)

func (s *Sentinel) waitServers(tb testing.TB) {
	tb.Helper()
	Wait(tb, sentinelWithin, "replicas to be in sync", func() error {
		for _, server := range s.servers {
			if !server.answers() {
				continue
			}
			if err := server.inSync(); err != nil {
				return err
			}
		}
		return nil
	})
}

// WaitOK returns when the servers that run are one master and replicas in sync,
// and when all Sentinels that run know of the others and agree on the master.
func (s *Sentinel) WaitOK(tb testing.TB) {
	tb.Helper()
	Wait(tb, sentinelWithin, "the Sentinels to agree", func() error {
		master, err := s.master()
		if err != nil {
			return err
		}
		for _, sentinel := range s.sentinels {
			if !sentinel.answers() {
				continue
			}
			if err := knowsAll(sentinel, master); err != nil {
				return err
			}
		}
		return s.rolesUnder(master)
	})
	s.waitServers(tb)
}

func knowsAll(sentinel, master *Server) error {
	reply, err := sentinel.ask("sentinel", "master", MasterName)
	if err != nil {
		return err
	}
	list, err := texts(reply)
	if err != nil {
		return err
	}
	known := map[string]string{}
	for pair := range slices.Chunk(list, 2) {
		known[pair[0]] = pair[1]
	}
	if known["port"] != strconv.Itoa(master.Port()) || known["flags"] != "master" ||
		known["num-slaves"] != "2" || known["num-other-sentinels"] != strconv.Itoa(sentinels-1) {
		return fmt.Errorf("redistest: sentinel %s says %v", sentinel.addr, known)
	}
	return nil
}

// rolesUnder says whether every running server has the role that it should.
func (s *Sentinel) rolesUnder(master *Server) error {
	for _, server := range s.servers {
		if !server.answers() {
			continue
		}
		info, err := server.info("replication")
		if err != nil {
			return err
		}
		if (info["role"] == "master") != (server == master) || server != master && info["master_port"] != strconv.Itoa(master.Port()) {
			return fmt.Errorf("redistest: %s is %s of %q", server.addr, info["role"], info["master_port"])
		}
	}
	return nil
}

// master is the one that most of the answering Sentinels name.
func (s *Sentinel) master() (*Server, error) {
	votes := map[*Server]int{}
	for _, sentinel := range s.sentinels {
		if !sentinel.answers() {
			continue
		}
		reply, err := sentinel.ask("sentinel", "get-master-addr-by-name", MasterName)
		if err != nil {
			continue // It may just have been killed; the others know as much.
		}
		named, err := texts(reply)
		if err != nil || len(named) != 2 {
			return nil, fmt.Errorf("redistest: sentinel %s says %v", sentinel.addr, reply)
		}
		for _, server := range s.servers {
			if server.addr == net.JoinHostPort(named[0], named[1]) {
				votes[server]++
			}
		}
	}
	if len(votes) == 0 {
		return nil, errors.New("redistest: no Sentinel names a master")
	}
	return slices.MaxFunc(s.servers, func(a, b *Server) int { return cmp.Compare(votes[a], votes[b]) }), nil
}

// Failover has a replica made the master although the old one is well (SENTINEL
// FAILOVER), and returns when the old one is a replica in sync, after about 2 s.
// It gives the new master, and the moment at which the Sentinels were seen to
// name it.
func (s *Sentinel) Failover(tb testing.TB) (master *Server, switched time.Time) {
	tb.Helper()
	old := s.Master(tb)
	asked := false
	Wait(tb, sentinelWithin, "another master than "+old.addr, func() error {
		var err error
		if !asked {
			if _, err = s.sentinels[0].ask("sentinel", "failover", MasterName); err != nil {
				return err // It knows no good replica yet.
			}
			asked = true
		}
		if master, err = s.master(); err == nil && master == old {
			err = errors.New("it still is")
		}
		return err
	})
	switched = time.Now()
	s.WaitOK(tb)
	return master, switched
}

// WaitFailover returns when the Sentinels name another master than old, about
// 3 s after old was killed or frozen, and when it is one. It gives that master.
func (s *Sentinel) WaitFailover(tb testing.TB, old *Server) *Server {
	tb.Helper()
	var master *Server
	Wait(tb, sentinelWithin, "another master than "+old.addr, func() error {
		var err error
		if master, err = s.master(); err != nil {
			return err
		}
		if master == old {
			return errors.New("it still is")
		}
		return s.rolesUnder(master)
	})
	s.waitServers(tb)
	return master
}
