package echolimit_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/echolimit"
	"github.com/tierlimit/tierlimit/fakeclock"
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
func byAPIKey(c echo.Context) (core.Identity, error) {
	return core.Identity{Key: c.Request().Header.Get("X-Api-Key"), Tier: "free"}, nil
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
	e := echo.New()
	e.Use(echolimit.New(tenAMinute(), byAPIKey))
	e.GET("/data", func(c echo.Context) error { return c.String(http.StatusOK, "data") })

	for range 11 {
		call(e, http.MethodGet, "/data")
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
	e := echo.New()
	e.Use(echolimit.New(tenAMinute(), byAPIKey))
	e.POST("/report", func(c echo.Context) error { return c.String(http.StatusOK, "report") }, echolimit.Cost(5))

	// The third is refused its first unit before Cost is asked. WithCost would
	// have told it the wait for all five, 30 s.
	for range 3 {
		call(e, http.MethodPost, "/report")
	}
	// Output:
	// 200 remaining 5 report
	// 200 remaining 0 report
	// 429 remaining 0 {"error":"rate limit exceeded","tier":"free","retry_after":6}
}

func ExampleSetCost() {
	e := echo.New()
	e.Use(echolimit.New(tenAMinute(), byAPIKey))
	e.POST("/chat", func(c echo.Context) error {
		echolimit.SetCost(c, 4) // what the model has used
		return c.String(http.StatusOK, "answer")
	})

	// The headers are those before the handler ran, the second's 4 lower.
	call(e, http.MethodPost, "/chat")
	call(e, http.MethodPost, "/chat")
	// Output:
	// 200 remaining 9 answer
	// 200 remaining 5 answer
}

func ExampleWithCost() {
	price := func(c echo.Context) int {
		if c.Path() == "/report" {
			return 5
		}
		return 1
	}
	e := echo.New()
	e.Use(echolimit.New(tenAMinute(), byAPIKey, echolimit.WithCost(price)))
	e.GET("/data", func(c echo.Context) error { return c.String(http.StatusOK, "data") })
	e.GET("/report", func(c echo.Context) error { return c.String(http.StatusOK, "report") })

	call(e, http.MethodGet, "/data")
	call(e, http.MethodGet, "/report")
	call(e, http.MethodGet, "/report")
	// Output:
	// 200 remaining 9 data
	// 200 remaining 4 report
	// 429 remaining 4 {"error":"rate limit exceeded","tier":"free","retry_after":6}
}

func ExampleWithRefused() {
	e := echo.New()
	e.Use(echolimit.New(tenAMinute(), byAPIKey,
		echolimit.WithCost(func(echo.Context) int { return 10 }),
		echolimit.WithRefused(func(c echo.Context, d core.Decision) error {
			httplimit.Problem(c.Response(), c.Request(), d)
			return nil
		})))
	e.GET("/data", func(c echo.Context) error { return c.String(http.StatusOK, "data") })

	for range 2 {
		req := httptest.NewRequest(http.MethodGet, "/data", nil)
		req.Header.Set("X-Api-Key", "key_ana")
		w := httptest.NewRecorder()
		e.ServeHTTP(w, req)
		fmt.Println(w.Code, w.Header().Get("Content-Type"))
		fmt.Println(strings.ReplaceAll(w.Body.String(), `,"`, ",\n \""))
	}
	// Output:
	// 200 text/plain; charset=UTF-8
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
	e := echo.New()
	e.Use(echolimit.New(tenAMinute(), byAPIKey))
	e.GET("/usage", func(c echo.Context) error {
		d, _ := echolimit.Decision(c)
		return c.String(http.StatusOK, fmt.Sprintf("%d of %d left on plan %s", d.Level.Remaining, d.Limit.Burst, d.Tier))
	})
	call(e, http.MethodGet, "/usage")
	// Output: 200 remaining 9 9 of 10 left on plan free
}

func ExampleByClientIP() {
	proxies := netip.MustParsePrefix("10.0.0.0/8")
	e := echo.New()
	e.Use(echolimit.New(tenAMinute(), echolimit.ByClientIP("free", proxies)))
	e.GET("/login", func(c echo.Context) error {
		addr, err := httplimit.ClientAddr(c.Request(), []netip.Prefix{proxies}, httplimit.DefaultIPv6Prefix)
		if err != nil {
			return err
		}
		return c.String(http.StatusOK, addr)
	})

	for _, peer := range []string{"10.0.0.1:4711", "198.51.100.7:4711"} {
		req := httptest.NewRequest(http.MethodGet, "/login", nil)
		req.RemoteAddr = peer
		req.Header.Set("X-Forwarded-For", "6.6.6.6, 203.0.113.9") // the left one is the client's own word
		w := httptest.NewRecorder()
		e.ServeHTTP(w, req)
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 200 203.0.113.9
	// 200 198.51.100.7
}

func ExampleIdentifyFunc_body() {
	identify := func(c echo.Context) (core.Identity, error) {
		body, err := httplimit.PeekBody(c.Request(), 64<<10)
		if err != nil {
			return core.Identity{}, err // answered 413 or 400
		}
		var login struct {
			Account string `json:"account"`
		}
		_ = json.Unmarshal(body, &login) // what is no JSON names nobody: core.OnMissing decides
		return core.Identity{Key: login.Account, Tier: "free"}, nil
	}
	e := echo.New()
	e.Use(echolimit.New(tenAMinute(), identify))
	e.POST("/login", func(c echo.Context) error {
		_, err := io.Copy(c.Response(), c.Request().Body) // the whole body is still there
		return err
	})

	for _, body := range []string{`{"account":"ana"}`, `no JSON`, strings.Repeat("x", 64<<10+1)} {
		w := httptest.NewRecorder()
		e.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/login", strings.NewReader(body)))
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 200 {"account":"ana"}
	// 401 {"error":"Unauthorized"}
	// 413 {"error":"payload too large"}
}
