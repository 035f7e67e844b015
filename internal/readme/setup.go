package readme

import (
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/labstack/echo/v4"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/echolimit"
	"github.com/tierlimit/tierlimit/ginlimit"
	"github.com/tierlimit/tierlimit/httplimit"
	"github.com/tierlimit/tierlimit/memstore"
)

func setup() (http.Handler, error) {
	plans := core.Plans{
		Tiers: map[string]core.Quota{
			"free":       core.PerMinute(10),
			"pro":        core.PerSecond(20).WithBurst(40).And(core.PerDay(50_000)),
			"enterprise": core.Unlimited(),
		},
		Default: "free",
	}
	limiter, err := core.New(memstore.New(), plans,
		core.OnMissing(core.Deny(http.StatusUnauthorized)),
		core.WithObserver(core.LogTo(slog.Default())))
	if err != nil {
		return nil, err // everything that is wrong with the plans, at once
	}

	r := gin.New()
	r.Use(ginlimit.New(limiter, identify, ginlimit.WithCost(price)))
	return r, nil
}

func otherStacks(limiter *core.Limiter, mux *http.ServeMux) (*echo.Echo, http.Handler) {
	e := echo.New()
	e.Use(echolimit.New(limiter, identifyEcho))

	handler := httplimit.New(limiter, identifyHTTP)(mux)
	return e, handler
}

func formats(limiter *core.Limiter, mux *http.ServeMux) http.Handler {
	limit := httplimit.New(limiter, identifyHTTP,
		httplimit.WithHeaders(httplimit.Both(httplimit.XRateLimit, httplimit.Draft)),
		httplimit.WithRefused(httplimit.Problem))
	return limit(mux)
}
