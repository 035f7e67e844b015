// Package echolimit limits an Echo API by the caller's plan.
//
//	identify := func(c echo.Context) (core.Identity, error) {
//		account, ok := accounts[c.Request().Header.Get("X-Api-Key")]
//		if !ok {
//			return core.Identity{}, nil // nobody: core.OnMissing decides
//		}
//		return core.Identity{Key: account.ID, Tier: account.Plan}, nil
//	}
//	e := echo.New()
//	e.Use(echolimit.New(limiter, identify))
//	e.GET("/data", data)                       // costs 1
//	e.POST("/report", report, echolimit.Cost(5))
//
// New goes into Use, Pre, a group or a route, also into several of them: a
// request pays once. In Use it covers unknown paths too.
//
// It trusts no proxy unless told to: c.RealIP is not asked. It does not read
// bodies and it sets no CORS headers. Echo's own rate limiter has a store
// without tiers, costs or headers, which is why this is a middleware instead.
package echolimit
