// Package httplimit has what all HTTP adapters share: rate limit headers,
// refusals, and the address of a client behind proxies.
//
//	d := limiter.Take(r.Context(), core.Identity{Key: account, Tier: plan}, 1)
//	httplimit.XRateLimit(w.Header(), d)
//	if !d.Allowed() {
//		httplimit.Refuse(w, r, d)
//		return
//	}
//
// ginlimit has the middleware for Gin.
//
// It sets no CORS headers: browsers show Retry-After and the rate headers to
// scripts only when the application names them in Access-Control-Expose-Headers.
package httplimit
