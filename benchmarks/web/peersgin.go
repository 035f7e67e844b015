package web

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/sethvargo/go-limiter"
	sethvargohttp "github.com/sethvargo/go-limiter/httplimit"
	"github.com/sethvargo/go-limiter/memorystore"
	ulule "github.com/ulule/limiter/v3"
	ululegin "github.com/ulule/limiter/v3/drivers/middleware/gin"
	ululememory "github.com/ulule/limiter/v3/drivers/store/memory"
)

func ululeGin(count int) (http.Handler, error) {
	l := ulule.New(ululememory.NewStore(), ulule.Rate{Period: window, Limit: int64(count)})
	return newGin(ululegin.NewMiddleware(l, ululegin.WithKeyGetter(func(c *gin.Context) string {
		return caller(c.Request).id
	}))), nil
}

func sethvargoStore(count int) (limiter.Store, error) {
	store, err := memorystore.New(&memorystore.Config{Tokens: uint64(count), Interval: window})
	if err != nil {
		return nil, fmt.Errorf("sethvargo: %w", err)
	}
	return store, nil
}

func sethvargoHTTP(count int) (http.Handler, error) {
	store, err := sethvargoStore(count)
	if err != nil {
		return nil, err
	}
	m, err := sethvargohttp.NewMiddleware(store, callerID)
	if err != nil {
		return nil, fmt.Errorf("sethvargo: %w", err)
	}
	return m.Handle(answer), nil
}

// sethvargoGin is what one writes who wants the fastest store behind Gin, with
// the same meaning of the headers as ours.
func sethvargoGin(count int) (http.Handler, error) {
	store, err := sethvargoStore(count)
	if err != nil {
		return nil, err
	}
	return newGin(func(c *gin.Context) {
		count, remaining, reset, ok, err := store.Take(c.Request.Context(), caller(c.Request).id)
		if err != nil {
			c.AbortWithStatus(http.StatusServiceUnavailable)
			return
		}
		at := time.Unix(0, int64(reset))
		c.Header("X-RateLimit-Limit", strconv.FormatUint(count, 10))
		c.Header("X-RateLimit-Remaining", strconv.FormatUint(remaining, 10))
		c.Header("X-RateLimit-Reset", strconv.FormatInt(at.Unix(), 10))
		if !ok {
			c.Header("Retry-After", strconv.Itoa(int(math.Ceil(time.Until(at).Seconds()))))
			c.Data(http.StatusTooManyRequests, "application/json", refusal)
			c.Abort()
		}
	}), nil
}

var refusal = []byte(`{"error":"rate limit exceeded"}`)
