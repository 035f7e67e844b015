// Package ginlimit limits a Gin API by the caller's plan.
//
//	identify := func(c *gin.Context) (core.Identity, error) {
//		account, ok := accounts[c.GetHeader("X-Api-Key")]
//		if !ok {
//			return core.Identity{}, nil // nobody: core.OnMissing decides
//		}
//		return core.Identity{Key: account.ID, Tier: account.Plan}, nil
//	}
//	r := gin.New()
//	r.Use(ginlimit.New(limiter, identify))
//	r.GET("/data", data)                      // costs 1
//	r.POST("/report", ginlimit.Cost(5), report)
//
// New goes on the engine, a group or a route, also on several of them: a
// request pays once. On the engine it covers unknown paths too.
//
// It trusts no proxy unless told to: Gin's own c.ClientIP believes any
// X-Forwarded-For by default, so it is not asked. It does not read bodies and
// it sets no CORS headers.
package ginlimit
