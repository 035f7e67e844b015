package ginlimit_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/ginlimit"
	"github.com/tierlimit/tierlimit/httplimit"
	"github.com/tierlimit/tierlimit/memstore"
)

// tenAMinute is a limiter whose clock stands still, so that examples always
// tell the same.
func tenAMinute() *core.Limiter {
	clock := fakeclock.New(time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC))
	limiter, err := core.New(
		memstore.New(memstore.WithClock(clock)),
		core.Plans{Tiers: map[string]core.Quota{"free": core.PerMinute(10)}, Default: "free"},
		core.OnMissing(core.Deny(http.StatusUnauthorized)))
	if err != nil {
		panic(err)
	}
	return limiter
}

// byAPIKey says who is asking.
func byAPIKey(c *gin.Context) (core.Identity, error) {
	return core.Identity{Key: c.GetHeader("X-Api-Key"), Tier: "free"}, nil
}

// call sends a request of key_ana to h and prints what matters of the answer.
func call(h http.Handler, method, path string) {
	r := httptest.NewRequest(method, path, nil)
	r.Header.Set("X-Api-Key", "key_ana")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Printf("%d remaining %s %s\n", w.Code, w.Header().Get("X-RateLimit-Remaining"), strings.TrimSpace(w.Body.String()))
}

func ExampleNew() {
	r := gin.New()
	r.Use(ginlimit.New(tenAMinute(), byAPIKey))
	r.GET("/data", func(c *gin.Context) { c.String(http.StatusOK, "data") })

	for range 11 {
		call(r, http.MethodGet, "/data")
	}
	// Output:
	// 200 remaining 9 data
	// 200 remaining 8 data
	// 200 remaining 7 data
	// 200 remaining 6 data
	// 200 remaining 5 data
	// 200 remaining 4 data
	// 200 remaining 3 data
	// 200 remaining 2 data
	// 200 remaining 1 data
	// 200 remaining 0 data
	// 429 remaining 0 {"error":"rate limit exceeded","tier":"free","retry_after":6}
}

func ExampleCost() {
	r := gin.New()
	r.Use(ginlimit.New(tenAMinute(), byAPIKey))
	r.POST("/report", ginlimit.Cost(5), func(c *gin.Context) { c.String(http.StatusOK, "report") })

	// The third is refused its first unit before Cost is asked. WithCost would
	// have told it the wait for all five, 30 s.
	for range 3 {
		call(r, http.MethodPost, "/report")
	}
	// Output:
	// 200 remaining 5 report
	// 200 remaining 0 report
	// 429 remaining 0 {"error":"rate limit exceeded","tier":"free","retry_after":6}
}

func ExampleSetCost() {
	r := gin.New()
	r.Use(ginlimit.New(tenAMinute(), byAPIKey))
	r.POST("/chat", func(c *gin.Context) {
		ginlimit.SetCost(c, 4) // what the model has used
		c.String(http.StatusOK, "answer")
	})

	// The headers are those before the handler ran, the second's 4 lower.
	call(r, http.MethodPost, "/chat")
	call(r, http.MethodPost, "/chat")
	// Output:
	// 200 remaining 9 answer
	// 200 remaining 5 answer
}

func ExampleWithCost() {
	price := func(c *gin.Context) int {
		if c.FullPath() == "/report" {
			return 5
		}
		return 1
	}
	r := gin.New()
	r.Use(ginlimit.New(tenAMinute(), byAPIKey, ginlimit.WithCost(price)))
	r.GET("/data", func(c *gin.Context) { c.String(http.StatusOK, "data") })
	r.GET("/report", func(c *gin.Context) { c.String(http.StatusOK, "report") })

	call(r, http.MethodGet, "/data")
	call(r, http.MethodGet, "/report")
	call(r, http.MethodGet, "/report")
	// Output:
	// 200 remaining 9 data
	// 200 remaining 4 report
	// 429 remaining 4 {"error":"rate limit exceeded","tier":"free","retry_after":6}
}

func ExampleWithRefused() {
	r := gin.New()
	r.Use(ginlimit.New(tenAMinute(), byAPIKey,
		ginlimit.WithCost(func(*gin.Context) int { return 10 }),
		ginlimit.WithRefused(func(c *gin.Context, d core.Decision) { httplimit.Problem(c.Writer, c.Request, d) })))
	r.GET("/data", func(c *gin.Context) { c.String(http.StatusOK, "data") })

	for range 2 {
		req := httptest.NewRequest(http.MethodGet, "/data", nil)
		req.Header.Set("X-Api-Key", "key_ana")
		w := httptest.NewRecorder()
		r.ServeHTTP(w, req)
		fmt.Println(w.Code, w.Header().Get("Content-Type"))
		fmt.Println(strings.ReplaceAll(w.Body.String(), `,"`, ",\n \""))
	}
	// Output:
	// 200 text/plain; charset=utf-8
	// data
	// 429 application/problem+json
	// {"type":"https://iana.org/assignments/http-problem-types#quota-exceeded",
	//  "title":"Quota exceeded",
	//  "status":429,
	//  "detail":"The rate limit of tier \"free\" is exceeded; retry in 60 s.",
	//  "violated-policies":["free"],
	//  "retry_after":60}
}

func ExampleDecision() {
	r := gin.New()
	r.Use(ginlimit.New(tenAMinute(), byAPIKey))
	r.GET("/usage", func(c *gin.Context) {
		if d, ok := ginlimit.Decision(c); ok {
			c.String(http.StatusOK, "%d of %d left on plan %s", d.Level.Remaining, d.Limit.Burst, d.Tier)
		}
	})
	call(r, http.MethodGet, "/usage")
	// Output: 200 remaining 9 9 of 10 left on plan free
}

func ExampleByClientIP() {
	proxies := netip.MustParsePrefix("10.0.0.0/8")
	r := gin.New()
	r.Use(ginlimit.New(tenAMinute(), ginlimit.ByClientIP("free", proxies)))
	r.GET("/login", func(c *gin.Context) {
		addr, err := httplimit.ClientAddr(c.Request, []netip.Prefix{proxies}, httplimit.DefaultIPv6Prefix)
		if err != nil {
			c.AbortWithError(http.StatusInternalServerError, err)
			return
		}
		c.String(http.StatusOK, addr)
	})

	for _, peer := range []string{"10.0.0.1:4711", "198.51.100.7:4711"} {
		req := httptest.NewRequest(http.MethodGet, "/login", nil)
		req.RemoteAddr = peer
		req.Header.Set("X-Forwarded-For", "6.6.6.6, 203.0.113.9") // the left one is the client's own word
		w := httptest.NewRecorder()
		r.ServeHTTP(w, req)
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 200 203.0.113.9
	// 200 198.51.100.7
}

func ExampleIdentifyFunc_body() {
	identify := func(c *gin.Context) (core.Identity, error) {
		body, err := httplimit.PeekBody(c.Request, 64<<10)
		if err != nil {
			return core.Identity{}, err // answered 413 or 400
		}
		var login struct {
			Account string `json:"account"`
		}
		_ = json.Unmarshal(body, &login) // what is no JSON names nobody: core.OnMissing decides
		return core.Identity{Key: login.Account, Tier: "free"}, nil
	}
	r := gin.New()
	r.Use(ginlimit.New(tenAMinute(), identify))
	r.POST("/login", func(c *gin.Context) {
		_, _ = io.Copy(c.Writer, c.Request.Body) // the whole body is still there
	})

	for _, body := range []string{`{"account":"ana"}`, `no JSON`, strings.Repeat("x", 64<<10+1)} {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/login", strings.NewReader(body)))
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 200 {"account":"ana"}
	// 401 {"error":"Unauthorized"}
	// 413 {"error":"payload too large"}
}
