package chaostest_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/denystore"
	"github.com/tierlimit/tierlimit/fallbackstore"
	"github.com/tierlimit/tierlimit/ginlimit"
	"github.com/tierlimit/tierlimit/memstore"
	"github.com/tierlimit/tierlimit/redisstore"
)

const instances = 2

// full and light are the loads: of a test that has the machine for itself, and of
// one that runs beside others. The plans fit them: each caller asks for more than
// it has.
var (
	full = load{2000, core.Plans{
		Tiers: map[string]core.Quota{
			"free": core.PerMinute(10),
			"pro":  core.PerSecond(20).WithBurst(40).And(core.PerDay(50_000)),
			"bulk": core.PerSecond(300).WithBurst(60),
			"vast": core.PerSecond(100_000),
		},
		Default: "free",
	}}
	light = load{500, core.Plans{
		Tiers: map[string]core.Quota{
			"free": core.PerMinute(10),
			"pro":  core.PerSecond(6).WithBurst(10).And(core.PerDay(50_000)),
			"bulk": core.PerSecond(50).WithBurst(20),
		},
		Default: "free",
	}}
)

// load is so many requests a second, under these plans.
type load struct {
	rate  int
	plans core.Plans
}

// callers ask for more than they have: of 100 requests, free users make 6, pro
// users 20 and bulk users 74.
var callers = []struct {
	tier         string
	users, share int
}{
	{"free", 6, 6},
	{"pro", 10, 20},
	{"bulk", 4, 74},
}

// fleet is a service of two instances as in examples/production, and those who
// ask it.
type fleet struct {
	*journal

	redis [instances]*redisstore.Store
	apis  [instances]http.Handler
	noise *noise
	of    load

	before  int // goroutines
	ended   atomic.Bool
	running sync.WaitGroup
}

// serve starts the instances and waits until both have reached Redis. They end
// with the test.
func serve(t *testing.T, option rueidis.ClientOption, of load) *fleet {
	t.Helper()
	gin.SetMode(gin.ReleaseMode)
	f := &fleet{journal: newJournal(), before: runtime.NumGoroutine(), of: of}
	for i := range f.apis {
		// Its own defaults, not those that redistest has for its clients.
		shared, err := redisstore.Open(rueidis.ClientOption{
			InitAddress: option.InitAddress, Sentinel: rueidis.SentinelOption{MasterSet: option.Sentinel.MasterSet},
		})
		require.NoError(t, err)
		t.Cleanup(shared.Close)
		require.NoError(t, shared.Ready(t.Context()))
		store := fallbackstore.New(denystore.New(inner{shared, f.journal, i}), memstore.New(),
			fallbackstore.WithShare(1.0/instances),
			fallbackstore.WithStateChange(func(fallbackstore.State) { f.changes.Add(1) }))
		f.redis[i], f.apis[i] = shared, newAPI(t, whole{store, f.journal}, of.plans, f.journal)
	}
	return f
}

// newAPI is a service over a whole store. /login is closed when nobody can
// count attempts, the rest is open.
func newAPI(t *testing.T, store core.Store, plans core.Plans, j *journal) http.Handler {
	t.Helper()
	limiter, err := core.New(store, plans, core.WithObserver(j.observe))
	require.NoError(t, err)
	strict, err := limiter.With(core.OnStorageError(core.Deny(http.StatusServiceUnavailable)))
	require.NoError(t, err)
	ok := func(c *gin.Context) { c.String(http.StatusOK, "ok\n") }
	r := gin.New()
	r.GET("/login", ginlimit.New(strict, identify), ok)
	api := r.Group("/", ginlimit.New(limiter, identify))
	api.GET("/data", ok)
	api.GET("/report", ginlimit.Cost(3), ok)
	return r
}

func identify(c *gin.Context) (core.Identity, error) {
	return core.Identity{Key: c.GetHeader("X-Api-Key"), Tier: c.GetHeader("X-Tier")}, nil
}

// ask sends one request of a caller to an instance.
func (f *fleet) ask(instance int, path, tier, key string) *httptest.ResponseRecorder {
	return f.askUntil(context.Background(), instance, path, tier, key)
}

// askUntil is ask for a client that hangs up when ctx ends.
func (f *fleet) askUntil(ctx context.Context, instance int, path, tier, key string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	r.Header.Set("X-Api-Key", key)
	r.Header.Set("X-Tier", tier)
	w := httptest.NewRecorder()
	f.apis[instance].ServeHTTP(w, r)
	f.status(w.Code)
	return w
}

// load sends its load to both instances, whether it is answered or not, until
// the test ends it.
func (f *fleet) load(t *testing.T) {
	t.Helper()
	f.noise = listen()
	f.running.Go(func() {
		began := time.Now()
		for sent := 0; !f.ended.Load(); rest(time.Millisecond) {
			for due := int(time.Since(began).Seconds() * float64(f.of.rate)); sent < due; sent++ {
				f.running.Go(f.somebody)
			}
		}
	})
	t.Cleanup(f.stop)
}

// stop ends the load and waits for the last answer.
func (f *fleet) stop() {
	f.ended.Store(true)
	f.running.Wait()
	f.noise.stop()
}

// somebody asks somewhere; one in twenty wants a report, which costs 3.
func (f *fleet) somebody() {
	at, path := rand.IntN(100), "/data"
	if rand.IntN(20) == 0 {
		path = "/report"
	}
	for _, c := range callers {
		if at < c.share {
			f.ask(rand.IntN(instances), path, c.tier, user(c.tier, rand.IntN(c.users)))
			return
		}
		at -= c.share
	}
}

// user is the i-th of a tier.
func user(tier string, i int) string { return tier + "-" + strconv.Itoa(i) }
