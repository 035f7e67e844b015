package redistest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// member is a node of a cluster as another, or itself, sees it.
type member struct {
	id, addr, flags, master string
	epoch                   int64
	slots                   []slotRange
}

type slotRange struct{ first, last int }

func (r slotRange) has(slot int) bool { return r.first <= slot && slot <= r.last }

func (m member) owns(slot int) bool {
	return slices.ContainsFunc(m.slots, func(r slotRange) bool { return r.has(slot) })
}

// dead says that the viewer thinks so, or knows no address.
func (m member) dead() bool {
	return slices.ContainsFunc(strings.Split(m.flags, ","), func(flag string) bool {
		return slices.Contains([]string{"fail", "fail?", "noaddr", "handshake"}, flag)
	})
}

// view is the cluster as one node sees it.
type view []member

// String is the same for two nodes that agree on roles and slots.
func (v view) String() string {
	var lines []string
	for _, m := range v {
		if !m.dead() {
			lines = append(lines, fmt.Sprintf("%s %v of %s", m.addr, m.slots, m.master))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}

// view asks a node how it sees the cluster.
func (s *Server) view() (view, error) {
	reply, err := s.ask("cluster", "nodes")
	if err != nil {
		return nil, err
	}
	var v view
	for line := range strings.Lines(fmt.Sprint(reply)) {
		m, err := parseMember(line)
		if err != nil {
			return nil, err
		}
		v = append(v, m)
	}
	return v, nil
}

// parseMember reads a line of CLUSTER NODES: id, address@bus, flags, master,
// ping, pong, epoch, link, slots.
func parseMember(line string) (member, error) {
	f := strings.Fields(line)
	if len(f) < 8 {
		return member{}, fmt.Errorf("redistest: cluster said %q", line)
	}
	m := member{id: f[0], flags: f[2], master: f[3]}
	m.addr, _, _ = strings.Cut(f[1], "@")
	var err error
	if m.epoch, err = strconv.ParseInt(f[6], 10, 64); err != nil {
		return member{}, fmt.Errorf("redistest: cluster said %q: %w", line, err)
	}
	for _, text := range f[8:] {
		if strings.HasPrefix(text, "[") {
			continue // On its way: it belongs to its master until it is there.
		}
		first, last, several := strings.Cut(text, "-")
		if !several {
			last = first
		}
		var r slotRange
		var err1, err2 error
		r.first, err1 = strconv.Atoi(first)
		r.last, err2 = strconv.Atoi(last)
		if err := errors.Join(err1, err2); err != nil {
			return member{}, fmt.Errorf("redistest: cluster said %q: %w", line, err)
		}
		m.slots = append(m.slots, r)
	}
	return m, nil
}

// owner is the master of a slot and the view that says so. Views differ during
// a failover; the newest epoch is the one that wins.
func (c *Cluster) owner(slot int) (member, view, error) {
	type claim struct {
		member
		view
	}
	var claims []claim
	for _, n := range c.nodes {
		if !n.answers() {
			continue
		}
		v, err := n.view()
		if err != nil {
			continue // It may just have been killed; the others know as much.
		}
		if i := slices.IndexFunc(v, func(m member) bool { return m.owns(slot) }); i >= 0 {
			claims = append(claims, claim{v[i], v})
		}
	}
	if len(claims) == 0 {
		return member{}, nil, fmt.Errorf("redistest: nobody has slot %d", slot)
	}
	newest := slices.MaxFunc(claims, func(a, b claim) int { return cmp.Compare(a.epoch, b.epoch) })
	return newest.member, newest.view, nil
}

// node is the server of a member.
func (c *Cluster) node(tb testing.TB, addr string) *Server {
	tb.Helper()
	i := slices.IndexFunc(c.nodes, func(s *Server) bool { return s.addr == addr })
	if i < 0 {
		tb.Fatalf("redistest: no node at %q", addr)
	}
	return c.nodes[i]
}

// MasterOf is the node that has the key's slot, alive or not, by what the nodes
// know now.
func (c *Cluster) MasterOf(tb testing.TB, key string) *Server {
	tb.Helper()
	m, _, err := c.owner(Slot(key))
	if err != nil {
		tb.Fatal(err)
	}
	return c.node(tb, m.addr)
}

// ReplicaOf is a living replica of [Cluster.MasterOf].
func (c *Cluster) ReplicaOf(tb testing.TB, key string) *Server {
	tb.Helper()
	master, v, err := c.owner(Slot(key))
	if err != nil {
		tb.Fatal(err)
	}
	for _, m := range v {
		if m.master == master.id && !m.dead() {
			return c.node(tb, m.addr)
		}
	}
	tb.Fatalf("redistest: %s has no replica", master.addr)
	return nil
}
