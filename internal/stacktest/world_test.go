package stacktest_test

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/httplimit"
	"github.com/tierlimit/tierlimit/internal/stacktest"
	"github.com/tierlimit/tierlimit/memstore"
)

// start is when all tests begin: 1790000000 in Unix seconds.
var start = time.Unix(1_790_000_000, 0)

// plans of the transcript, and tiers that single tests use.
var plans = core.Plans{
	Tiers: map[string]core.Quota{
		"free":    core.PerMinute(10),
		"pro":     core.PerMinute(100),
		"hour":    core.PerHour(25),
		"address": core.PerMinute(60),
		"tokens":  core.PerHour(1000),
		"rich":    core.Unlimited(),
		"banned":  core.Blocked(),
		"tried":   core.PerMinute(2).Shadow(),
	},
	Default: "free",
}

// accounts by API key.
var accounts = map[string]core.Identity{
	"key_ana":    {Key: "key_ana", Tier: "free"},
	"key_bea":    {Key: "key_bea", Tier: "pro"},
	"key_eva":    {Key: "key_eva", Tier: "gold"},
	"key_hugo":   {Key: "key_hugo", Tier: "hour"},
	"key_rich":   {Key: "key_rich", Tier: "rich"},
	"key_banned": {Key: "key_banned", Tier: "banned"},
	"key_tried":  {Key: "key_tried", Tier: "tried"},
	"key_blank":  {Key: " \t", Tier: "pro"},
}

var (
	ana  = accounts["key_ana"]
	bea  = accounts["key_bea"]
	hugo = accounts["key_hugo"]
)

// byKey identifies by X-Api-Key; an unknown one is nobody.
func byKey(r *http.Request) (core.Identity, error) { return accounts[r.Header.Get("X-Api-Key")], nil }

// as identifies everybody as id.
func as(id core.Identity) func(*http.Request) (core.Identity, error) {
	return func(*http.Request) (core.Identity, error) { return id, nil }
}

// byAddress charges the peer under a tier.
func byAddress(tier string) func(*http.Request) (core.Identity, error) {
	return func(r *http.Request) (core.Identity, error) {
		host, _, _ := strings.Cut(r.RemoteAddr, ":")
		return core.Identity{Key: host, Tier: tier}, nil
	}
}

// world is a limiter over a store of its own, under a clock that tests move.
type world struct {
	t       *testing.T
	clock   *fakeclock.Clock
	store   *spyStore
	limiter *core.Limiter
	read    chan struct{} // for handlers that wait for their client
}

func newWorld(t *testing.T, opts ...core.Option) *world {
	t.Helper()
	return newWorldWith(t, plans, opts...)
}

func newWorldWith(t *testing.T, p core.Plans, opts ...core.Option) *world {
	t.Helper()
	clock := fakeclock.New(start)
	store := &spyStore{Store: memstore.New(memstore.WithClock(clock))}
	limiter, err := core.New(store, p, append([]core.Option{core.WithClock(clock)}, opts...)...)
	require.NoError(t, err)
	return &world{t: t, clock: clock, store: store, limiter: limiter, read: make(chan struct{})}
}

// left is how many units id has, without spending one.
func (w *world) left(id core.Identity) int {
	w.t.Helper()
	return remaining(w.t, w.limiter, id)
}

func remaining(t *testing.T, l *core.Limiter, id core.Identity) int {
	t.Helper()
	d := l.Peek(t.Context(), id, 0)
	require.True(t, d.Allowed(), "peek: %v", d.Outcome)
	return d.Level.Remaining
}

// with is the limiter under other options.
func (w *world) with(opts ...core.Option) *core.Limiter {
	w.t.Helper()
	l, err := w.limiter.With(opts...)
	require.NoError(w.t, err)
	return l
}

// spyStore notes what is asked, and fails on demand.
type spyStore struct {
	core.Store

	mu    sync.Mutex
	asked []core.Request
	fail  func(core.Request) error
}

func (s *spyStore) Take(ctx context.Context, r core.Request) (core.Result, error) {
	s.mu.Lock()
	s.asked = append(s.asked, r)
	fail := s.fail
	s.mu.Unlock()
	if fail != nil {
		if err := fail(r); err != nil {
			return core.Result{}, err
		}
	}
	return s.Store.Take(ctx, r)
}

func (s *spyStore) failWith(f func(core.Request) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = f
}

// calls counts what was asked, looks aside.
func (s *spyStore) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.asked {
		if r.Mode != core.Look {
			n++
		}
	}
	return n
}

// each runs a scenario once for every stack, all at the same time.
func each(t *testing.T, scenario func(t *testing.T, s stacktest.Stack)) {
	t.Helper()
	for _, s := range stacktest.Stacks() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			scenario(t, s)
		})
	}
}

// inTurn is each for scenarios that change something global.
func inTurn(t *testing.T, scenario func(t *testing.T, s stacktest.Stack)) {
	t.Helper()
	for _, s := range stacktest.Stacks() {
		t.Run(s.Name, func(t *testing.T) { scenario(t, s) })
	}
}

// answer is what a client sees.
type answer struct {
	Status int
	Body   string
	Header http.Header
}

// rate has the rate headers alone, in one line each, sorted.
func (a answer) rate() []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(a.Header)) {
		if strings.HasPrefix(name, "X-Ratelimit") || strings.HasPrefix(name, "Ratelimit") || name == "Retry-After" || strings.HasPrefix(name, "X-Own") {
			lines = append(lines, name+": "+strings.Join(a.Header[name], " | "))
		}
	}
	return lines
}

// says wants the body to be this, byte for byte.
func (a answer) says(t *testing.T, body string) {
	t.Helper()
	require.Equal(t, body, a.Body)
}

// remaining is X-RateLimit-Remaining, -1 when there is none.
func (a answer) remaining() int {
	n, err := strconv.Atoi(a.Header.Get("X-Ratelimit-Remaining"))
	if err != nil {
		return -1
	}
	return n
}

// change is something about a request.
type change func(*http.Request)

func key(k string) change { return header("X-Api-Key", k) }

func header(name string, values ...string) change {
	return func(r *http.Request) { r.Header[http.CanonicalHeaderKey(name)] = values }
}

func from(addr string) change { return func(r *http.Request) { r.RemoteAddr = addr } }

func under(ctx context.Context) change { return func(r *http.Request) { *r = *r.WithContext(ctx) } }

// get calls the handler without a network in between.
func get(h http.Handler, path string, changes ...change) answer {
	return call(h, http.MethodGet, path, changes...)
}

func call(h http.Handler, method, path string, changes ...change) answer {
	r := httptest.NewRequest(method, path, http.NoBody)
	for _, c := range changes {
		c(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	res := w.Result()
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	return answer{res.StatusCode, string(body), res.Header}
}

// ok answers 200.
func ok(c *stacktest.Call) error { return c.Text(http.StatusOK, "served") }

// route serves every method of path, with layers before the handler.
func route(path string, handle func(*stacktest.Call) error, layers ...stacktest.Layer) stacktest.Route {
	return stacktest.Route{Path: path, Use: layers, Handle: handle}
}

// limit installs l for the callers of byKey.
func limit(l *core.Limiter) stacktest.Limit { return stacktest.Limit{Limiter: l, Identify: byKey} }

// limitAs installs l for everybody as id.
func limitAs(l *core.Limiter, id core.Identity) stacktest.Limit {
	return stacktest.Limit{Limiter: l, Identify: as(id)}
}

func layers(l ...stacktest.Layer) []stacktest.Layer { return l }

func routes(r ...stacktest.Route) []stacktest.Route { return r }

// body429 is the body of a refusal.
func body429(tier string, retry int) string {
	return `{"error":"rate limit exceeded","tier":"` + tier + `","retry_after":` + strconv.Itoa(retry) + `}`
}

func itoa(n int) string { return strconv.Itoa(n) }

// decisionIn is what an observer can ask for.
func decisionIn(ctx context.Context) (core.Decision, bool) { return httplimit.Decision(ctx) }
