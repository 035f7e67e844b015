package web

import (
	"fmt"
	"net/http"
	"time"

	"github.com/didip/tollbooth/v7"
	"github.com/didip/tollbooth/v7/limiter"
	"github.com/go-chi/httprate"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/throttled/throttled/v2"
	throttledmemory "github.com/throttled/throttled/v2/store/memstore"
	"golang.org/x/time/rate"
)

func httprateServer(count int) (http.Handler, error) {
	return httprate.LimitBy(count, window, callerID)(answer), nil
}

// varyBy is throttled's way to name a caller.
type varyBy struct{}

func (varyBy) Key(r *http.Request) string { return caller(r).id }

func throttledServer(count int) (http.Handler, error) {
	store, err := throttledmemory.NewCtx(0)
	if err != nil {
		return nil, fmt.Errorf("throttled: %w", err)
	}
	quota := throttled.RateQuota{MaxRate: throttled.PerDuration(count, window), MaxBurst: count - 1}
	l, err := throttled.NewGCRARateLimiterCtx(store, quota)
	if err != nil {
		return nil, fmt.Errorf("throttled: %w", err)
	}
	return (&throttled.HTTPRateLimiterCtx{RateLimiter: l, VaryBy: varyBy{}}).RateLimit(answer), nil
}

// tollboothServer goes by the header itself, beside address and path: it takes
// no function. It writes six headers.
func tollboothServer(count int) (http.Handler, error) {
	l := tollbooth.NewLimiter(float64(count)/window.Seconds(), &limiter.ExpirableOptions{DefaultExpirationTTL: time.Hour}).
		SetBurst(count).
		SetIPLookups([]string{"RemoteAddr"}).
		SetHeader(keyHeader, nil)
	return tollbooth.LimitHandler(l, answer), nil
}

// echoOwn writes no rate headers.
func echoOwn(count int) (http.Handler, error) {
	config := middleware.RateLimiterMemoryStoreConfig{
		Rate: rate.Limit(float64(count) / window.Seconds()), Burst: count, ExpiresIn: time.Hour,
	}
	return newEcho(middleware.RateLimiterWithConfig(middleware.RateLimiterConfig{
		Store:               middleware.NewRateLimiterMemoryStoreWithConfig(config),
		IdentifierExtractor: func(c echo.Context) (string, error) { return caller(c.Request()).id, nil },
	})), nil
}
