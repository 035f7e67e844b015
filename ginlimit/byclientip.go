package ginlimit

import (
	"net/netip"

	"github.com/gin-gonic/gin"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
)

// ByClientIP identifies callers by their address under one tier of the plans,
// IPv6 by its /64: for routes before the login. X-Forwarded-For is believed only from
// trusted; see [httplimit.ClientAddr]. A peer that is no IP address is an error.
func ByClientIP(tier string, trusted ...netip.Prefix) IdentifyFunc {
	identify := httplimit.ByClientIP(tier, trusted...)
	return func(c *gin.Context) (core.Identity, error) { return identify(c.Request) }
}
