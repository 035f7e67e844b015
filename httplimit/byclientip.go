package httplimit

import (
	"net/http"
	"net/netip"
	"slices"

	"github.com/tierlimit/tierlimit/core"
)

// ByClientIP identifies callers by their address under one tier of the plans,
// IPv6 by its /64: for routes before the login. X-Forwarded-For is believed only from
// trusted; see [ClientAddr]. A peer that is no IP address is an error.
func ByClientIP(tier string, trusted ...netip.Prefix) IdentifyFunc {
	trusted = slices.Clone(trusted)
	return func(r *http.Request) (core.Identity, error) {
		addr, err := ClientAddr(r, trusted, DefaultIPv6Prefix)
		return core.Identity{Key: addr, Tier: tier}, err
	}
}
