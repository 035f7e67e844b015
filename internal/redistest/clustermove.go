package redistest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// Failover makes a replica the master, in agreement with the old one
// (CLUSTER FAILOVER), and returns when all nodes know. Writes wait meanwhile.
// It gives the moment at which the replica was seen to be the master.
func (c *Cluster) Failover(tb testing.TB, replica *Server) (switched time.Time) {
	tb.Helper()
	var asked time.Time
	Wait(tb, clusterWithin, replica.addr+" to be a master", func() error {
		if time.Since(asked) > 6*time.Second { // An attempt is given up, silently, after 5 s.
			if _, err := replica.ask("cluster", "failover"); err != nil {
				return err // It is not in sync yet.
			}
			asked = time.Now()
		}
		v, err := replica.view()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(v, func(m member) bool { return m.addr == replica.addr && len(m.slots) > 0 }) {
			return errors.New("it has no slots")
		}
		return nil
	})
	switched = time.Now()
	c.WaitOK(tb)
	return switched
}

// WaitFailover returns when another node than old has the key's slot and the
// cluster is well again, about 4 s after old was killed or frozen. It gives the
// new master.
func (c *Cluster) WaitFailover(tb testing.TB, key string, old *Server) *Server {
	tb.Helper()
	Wait(tb, clusterWithin, "another master than "+old.addr, func() error {
		m, _, err := c.owner(Slot(key))
		if err == nil && m.addr == old.addr {
			err = errors.New("it still is")
		}
		return err
	})
	c.WaitOK(tb)
	return c.MasterOf(tb, key)
}

// MigrateSlots moves the n lowest slots of a master to another, with their keys
// and one after the other, while both serve: clients meet ASK, then MOVED, and
// TRYAGAIN for several keys of which some have moved.
func (c *Cluster) MigrateSlots(tb testing.TB, from, to *Server, n int) {
	tb.Helper()
	v, err := from.view()
	if err != nil {
		tb.Fatal(err)
	}
	i := slices.IndexFunc(v, func(m member) bool { return m.addr == from.addr })
	if i < 0 {
		tb.Fatalf("redistest: %s does not know itself", from.addr)
	}
	for _, r := range v[i].slots {
		for slot := r.first; slot <= r.last && n > 0; slot++ {
			c.MigrateSlot(tb, slot, from, to)
			n--
		}
	}
	if n > 0 {
		tb.Fatalf("redistest: %s has %d slots too few", from.addr, n)
	}
	c.WaitOK(tb)
}

// MigrateSlot is [Cluster.MigrateSlots] for a slot of choice, such as that of a
// busy key. It does not wait until the nodes which had no part in it know.
func (c *Cluster) MigrateSlot(tb testing.TB, slot int, from, to *Server) {
	tb.Helper()
	if err := c.migrate(slot, from, to); err != nil {
		tb.Fatal(err)
	}
}

func (c *Cluster) migrate(slot int, from, to *Server) error {
	source, err := from.dial(doWithin)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // Its work is done.
	target, err := to.dial(doWithin)
	if err != nil {
		return err
	}
	defer func() { _ = target.Close() }() // Its work is done.
	fromID, err := source.do("cluster", "myid")
	if err != nil {
		return err
	}
	toID, err := target.do("cluster", "myid")
	if err != nil {
		return err
	}
	// The order matters: the target must expect what the source sends to it.
	if _, err := target.do("cluster", "setslot", slot, "importing", fromID); err != nil {
		return err
	}
	if _, err := source.do("cluster", "setslot", slot, "migrating", toID); err != nil {
		return err
	}
	if err := c.migrateKeys(slot, source, to); err != nil {
		return err
	}
	// And the new owner is told first: in between both say that it has the slot.
	if _, err := target.do("cluster", "setslot", slot, "node", toID); err != nil {
		return err
	}
	_, err = source.do("cluster", "setslot", slot, "node", toID)
	return err
}

func (c *Cluster) migrateKeys(slot int, source *conn, to *Server) error {
	for {
		reply, err := source.do("cluster", "getkeysinslot", slot, 100)
		if err != nil {
			return err
		}
		keys, ok := reply.([]any)
		if !ok {
			return fmt.Errorf("redistest: keys in slot %d: %v", slot, reply)
		}
		if len(keys) == 0 {
			return nil // New ones are made at the target by now.
		}
		words := []any{"migrate", "127.0.0.1", to.Port(), "", 0, doWithin.Milliseconds()}
		if c.password != "" {
			words = append(words, "auth", c.password)
		}
		words = append(append(words, "keys"), keys...)
		if _, err := source.do(words...); err != nil {
			return err
		}
	}
}
