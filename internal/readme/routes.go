package readme

import (
	"net/http"
	"net/netip"

	"github.com/gin-gonic/gin"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/ginlimit"
)

func price(c *gin.Context) int {
	if c.FullPath() == "/report" {
		return 5
	}
	return 1
}

func report(c *gin.Context) { c.String(http.StatusOK, "report\n") }

func model(*gin.Context) (answer string, used int) { return "Limit by plan.\n", 7 }

func routes(r *gin.Engine, limiter *core.Limiter) {
	r.Use(ginlimit.New(limiter, ginlimit.ByClientIP("address", netip.MustParsePrefix("10.0.0.0/8"))))
	r.POST("/report", ginlimit.Cost(5), report)
	r.POST("/chat", func(c *gin.Context) {
		answer, used := model(c)
		ginlimit.SetCost(c, used)
		c.String(http.StatusOK, answer)
	})
}

func order(r *gin.Engine, limiter *core.Limiter, cors, authenticate gin.HandlerFunc) {
	r.Use(gin.Recovery(), cors)                                  // so that a 429 carries its CORS headers
	r.Use(ginlimit.New(limiter, ginlimit.ByClientIP("address"))) // slows down those who guess keys
	api := r.Group("/", authenticate)                            // ends requests without a valid key
	api.Use(ginlimit.New(limiter, identifyByClaim))              // what the customer pays for
}
