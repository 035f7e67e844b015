package readme

import (
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/labstack/echo/v4"
	"github.com/redis/rueidis"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/denystore"
	"github.com/tierlimit/tierlimit/echolimit"
	"github.com/tierlimit/tierlimit/fallbackstore"
	"github.com/tierlimit/tierlimit/ginlimit"
	"github.com/tierlimit/tierlimit/httplimit"
	"github.com/tierlimit/tierlimit/memstore"
	"github.com/tierlimit/tierlimit/redisstore"
)

func setup() (http.Handler, error) {
	plans := core.Plans{
		Tiers: map[string]core.Quota{
			"address":    core.PerMinute(600), // before the login, see below
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

func shared(plans core.Plans) (*core.Limiter, error) {
	store, err := redisstore.Open(rueidis.ClientOption{InitAddress: []string{"127.0.0.1:6379"}})
	if err != nil {
		return nil, err
	}
	limiter, err := core.New(store, plans)
	return limiter, err
}

func decorated(shared core.Store, instances int, plans core.Plans) ([]*core.Limiter, error) {
	cache := denystore.New(shared)
	pages, err := core.New(cache, plans)
	if err != nil {
		return nil, err
	}
	login, err := pages.With(core.OnStorageError(core.Deny(http.StatusServiceUnavailable)))
	if err != nil {
		return nil, err
	}
	local := fallbackstore.New(cache, memstore.New(), fallbackstore.WithShare(1/float64(instances)))
	limiter, err := core.New(local, plans)
	return []*core.Limiter{limiter, pages, login}, err
}

func formats(limiter *core.Limiter, mux *http.ServeMux) http.Handler {
	limit := httplimit.New(limiter, identifyHTTP,
		httplimit.WithHeaders(httplimit.Both(httplimit.XRateLimit, httplimit.Draft)),
		httplimit.WithRefused(httplimit.Problem))
	return limit(mux)
}
