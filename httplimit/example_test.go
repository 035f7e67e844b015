package httplimit_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"time"

	"github.com/tierlimit/tierlimit/core"
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
func byAPIKey(r *http.Request) (core.Identity, error) {
	return core.Identity{Key: r.Header.Get("X-Api-Key"), Tier: "free"}, nil
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
	mux := http.NewServeMux()
	mux.HandleFunc("GET /data", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "data") })
	api := httplimit.New(tenAMinute(), byAPIKey)(mux)

	for range 11 {
		call(api, http.MethodGet, "/data")
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
	report := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "report") })
	mux := http.NewServeMux()
	mux.Handle("POST /report", httplimit.Cost(5)(report))
	api := httplimit.New(tenAMinute(), byAPIKey)(mux)

	// The third is refused its first unit before Cost is asked. WithCost would
	// have told it the wait for all five, 30 s.
	for range 3 {
		call(api, http.MethodPost, "/report")
	}
	// Output:
	// 200 remaining 5 report
	// 200 remaining 0 report
	// 429 remaining 0 {"error":"rate limit exceeded","tier":"free","retry_after":6}
}

func ExampleSetCost() {
	chat := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httplimit.SetCost(r, 4) // what the model has used
		fmt.Fprintln(w, "answer")
	})
	api := httplimit.New(tenAMinute(), byAPIKey)(chat)

	// The headers are those before the handler ran, the second's 4 lower.
	call(api, http.MethodPost, "/chat")
	call(api, http.MethodPost, "/chat")
	// Output:
	// 200 remaining 9 answer
	// 200 remaining 5 answer
}

func ExampleWithCost() {
	price := func(r *http.Request) int {
		if r.URL.Path == "/report" {
			return 5
		}
		return 1
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/{name}", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, r.PathValue("name")) })
	api := httplimit.New(tenAMinute(), byAPIKey, httplimit.WithCost(price))(mux)

	call(api, http.MethodGet, "/data")
	call(api, http.MethodGet, "/report")
	call(api, http.MethodGet, "/report")
	// Output:
	// 200 remaining 9 data
	// 200 remaining 4 report
	// 429 remaining 4 {"error":"rate limit exceeded","tier":"free","retry_after":6}
}

func ExampleWithRefused() {
	api := httplimit.New(tenAMinute(), byAPIKey,
		httplimit.WithCost(func(*http.Request) int { return 10 }),
		httplimit.WithRefused(httplimit.Problem),
	)(http.NotFoundHandler())

	for range 2 {
		req := httptest.NewRequest(http.MethodGet, "/data", nil)
		req.Header.Set("X-Api-Key", "key_ana")
		w := httptest.NewRecorder()
		api.ServeHTTP(w, req)
		fmt.Println(w.Code, w.Header().Get("Content-Type"))
		fmt.Println(strings.ReplaceAll(w.Body.String(), `,"`, ",\n \""))
	}
	// Output:
	// 404 text/plain; charset=utf-8
	// 404 page not found
	//
	// 429 application/problem+json
	// {"type":"https://iana.org/assignments/http-problem-types#quota-exceeded",
	//  "title":"Quota exceeded",
	//  "status":429,
	//  "detail":"The rate limit of tier \"free\" is exceeded; retry in 60 s.",
	//  "violated-policies":["free"],
	//  "retry_after":60}
}

func ExampleDraft() {
	api := httplimit.New(tenAMinute(), byAPIKey,
		httplimit.WithHeaders(httplimit.Both(httplimit.XRateLimit, httplimit.Draft)),
	)(http.NotFoundHandler())

	r := httptest.NewRequest(http.MethodGet, "/data", nil)
	r.Header.Set("X-Api-Key", "key_ana")
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	for _, name := range []string{"RateLimit-Policy", "RateLimit", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
		fmt.Printf("%s: %s\n", name, w.Header().Get(name))
	}
	// Output:
	// RateLimit-Policy: "free";q=10;w=60
	// RateLimit: "free";r=9;t=6
	// X-RateLimit-Limit: 10
	// X-RateLimit-Remaining: 9
	// X-RateLimit-Reset: 1790947100
}

func ExampleDecision() {
	api := httplimit.New(tenAMinute(), byAPIKey)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d, ok := httplimit.Decision(r.Context()); ok {
			fmt.Fprintf(w, "%d of %d left on plan %s", d.Level.Remaining, d.Limit.Burst, d.Tier)
		}
	}))
	call(api, http.MethodGet, "/usage")
	// Output: 200 remaining 9 9 of 10 left on plan free
}

func ExampleClientAddr() {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("X-Forwarded-For", "6.6.6.6, 203.0.113.9") // the left one is the client's own word

	for _, peer := range []string{"10.0.0.1:4711", "198.51.100.7:4711", "[2001:db8:1:2:3:4:5:6]:4711"} {
		r.RemoteAddr = peer
		addr, err := httplimit.ClientAddr(r, proxies, httplimit.DefaultIPv6Prefix)
		fmt.Println(addr, err)
	}
	// Output:
	// 203.0.113.9 <nil>
	// 198.51.100.7 <nil>
	// 2001:db8:1:2:: <nil>
}

func ExamplePeekBody() {
	identify := func(r *http.Request) (core.Identity, error) {
		body, err := httplimit.PeekBody(r, 64<<10)
		if err != nil {
			return core.Identity{}, err // answered 413 or 400
		}
		var login struct {
			Account string `json:"account"`
		}
		_ = json.Unmarshal(body, &login) // what is no JSON names nobody: core.OnMissing decides
		return core.Identity{Key: login.Account, Tier: "free"}, nil
	}
	api := httplimit.New(tenAMinute(), identify)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body) // the whole body is still there
	}))

	for _, body := range []string{`{"account":"ana"}`, `no JSON`, strings.Repeat("x", 64<<10+1)} {
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/login", strings.NewReader(body)))
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 200 {"account":"ana"}
	// 401 {"error":"Unauthorized"}
	// 413 {"error":"payload too large"}
}
