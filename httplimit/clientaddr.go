package httplimit

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// DefaultIPv6Prefix is how much of an IPv6 address tells one client from
// another: one connection commonly has a whole /64 to itself.
const DefaultIPv6Prefix = 64

// ClientAddr is the address of the client behind r in canonical form: IPv4
// also where it came mapped into IPv6, no port, no zone, IPv6 cut to its first
// ipv6Bits bits (203.0.113.9, 2001:db8:1:2::). Bits outside 1 to 128 mean
// [DefaultIPv6Prefix].
//
// It is the peer's address unless the peer is in trusted. Only then is
// X-Forwarded-For read, all its lines as one list, from the right: the first
// entry that is not in trusted is the client. An entry that is no address
// makes it the peer again, because what stands further left is the client's
// own word. The error is for a peer that is no address, such as a Unix socket.
func ClientAddr(r *http.Request, trusted []netip.Prefix, ipv6Bits int) (string, error) {
	peer, ok := parseAddr(r.RemoteAddr)
	if !ok {
		return "", fmt.Errorf("httplimit: the peer %q is no IP address", r.RemoteAddr)
	}
	return canonical(client(r, peer, trusted), ipv6Bits), nil
}

// client finds the first untrusted address from the right.
func client(r *http.Request, peer netip.Addr, trusted []netip.Prefix) netip.Addr {
	if !contains(trusted, peer) {
		return peer
	}
	last := peer
	for _, line := range slices.Backward(r.Header["X-Forwarded-For"]) {
		for more := strings.TrimSpace(line) != ""; more; {
			var entry string
			line, entry, more = cutLast(line)
			addr, ok := parseAddr(strings.TrimSpace(entry))
			if !ok {
				return peer
			}
			if !contains(trusted, addr) {
				return addr
			}
			last = addr
		}
	}
	return last
}

// cutLast splits the last entry off a comma list.
func cutLast(list string) (before, last string, more bool) {
	if i := strings.LastIndexByte(list, ','); i >= 0 {
		return list[:i], list[i+1:], true
	}
	return "", list, false
}

// parseAddr reads an address with or without a port, brackets or zone.
func parseAddr(s string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(s)
	if err != nil {
		withPort, portErr := netip.ParseAddrPort(s)
		addr, err = withPort.Addr(), portErr
	}
	if inner, ok := strings.CutPrefix(s, "["); ok && err != nil {
		if inner, ok = strings.CutSuffix(inner, "]"); ok {
			addr, err = netip.ParseAddr(inner)
		}
	}
	return addr.Unmap().WithZone(""), err == nil
}

func contains(trusted []netip.Prefix, addr netip.Addr) bool {
	for _, p := range trusted {
		if p.Addr().Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

func canonical(addr netip.Addr, ipv6Bits int) string {
	if addr.Is4() {
		return addr.String()
	}
	if ipv6Bits < 1 || ipv6Bits > 128 {
		ipv6Bits = DefaultIPv6Prefix
	}
	return netip.PrefixFrom(addr, ipv6Bits).Masked().Addr().String()
}
