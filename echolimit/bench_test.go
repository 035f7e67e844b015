package echolimit_test

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/echolimit"
	"github.com/tierlimit/tierlimit/memstore"
)

// sink is a ResponseWriter that is used again and again, so that what a
// request costs is what the handlers cost.
type sink struct {
	header http.Header
	status int
}

func (s *sink) Header() http.Header                  { return s.header }
func (s *sink) WriteHeader(status int)               { s.status = status }
func (s *sink) Write(p []byte) (int, error)          { return len(p), nil }
func (s *sink) WriteString(text string) (int, error) { return len(text), nil }

// send returns a function that sends the same request to h, and the status
// that it is answered with.
func send(h http.Handler) func() int {
	s := &sink{header: http.Header{}}
	r := httptest.NewRequest(http.MethodGet, "/data", nil)
	r.Header.Set("X-Api-Key", "key_ana")
	return func() int {
		clear(s.header)
		s.status = http.StatusOK
		h.ServeHTTP(s, r)
		return s.status
	}
}

// measured are the handlers that are compared: bare, and behind a limiter that
// writes three headers over a store in memory.
type measured struct{ bare, allowed, refused func() int }

func newMeasured(tb testing.TB) measured {
	tb.Helper()
	m := measured{
		bare:    send(server(nil)),
		allowed: send(server(longLimiter(tb, 1_000_000_000))),
		refused: send(server(longLimiter(tb, 1))),
	}
	m.refused()
	require.Equal(tb, http.StatusOK, m.bare())
	require.Equal(tb, http.StatusOK, m.allowed())
	require.Equal(tb, http.StatusTooManyRequests, m.refused())
	return m
}

// longLimiter grants n units in 30 days, so that neither a benchmark's end nor
// its length changes what it measures.
func longLimiter(tb testing.TB, n int) *core.Limiter {
	tb.Helper()
	l, err := core.New(memstore.New(), core.Plans{
		Tiers: map[string]core.Quota{"free": core.Per(n, 30*24*time.Hour)}, Default: "free",
	})
	require.NoError(tb, err)
	return l
}

// BenchmarkAdded tells what a limiter adds to a bare handler. Both run in short
// slices in random order, so that whatever else the machine does meets both; a
// figure is the median over pairs of slices.
func BenchmarkAdded(b *testing.B) {
	m := newMeasured(b)
	b.Run("allowed", func(b *testing.B) { compare(b, m.bare, m.allowed) })
	b.Run("refused", func(b *testing.B) { compare(b, m.bare, m.refused) })
}

func compare(b *testing.B, bare, limited func() int) {
	b.Helper()
	const slice = 200 // requests
	elapsed := func(f func() int) float64 {
		began := time.Now()
		for range slice {
			f()
		}
		return float64(time.Since(began)) / slice
	}
	var bares, limiteds, added, ratios []float64
	for b.Loop() {
		var x, y float64
		if rand.IntN(2) == 0 {
			x, y = elapsed(bare), elapsed(limited)
		} else {
			y, x = elapsed(limited), elapsed(bare)
		}
		bares, limiteds = append(bares, x), append(limiteds, y)
		added, ratios = append(added, y-x), append(ratios, y/x)
	}
	b.ReportMetric(median(limiteds), "ns/op")
	b.ReportMetric(median(bares), "bare-ns/op")
	b.ReportMetric(median(added), "added-ns/op")
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(allocations(limited)-allocations(bare), "added-allocs/op")
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// allocations is how many a call of f makes.
func allocations(f func() int) float64 { return testing.AllocsPerRun(1000, func() { f() }) }

func TestLimiterAddsFewAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates too")
	}
	const allowed, refused = 3, 3
	m := newMeasured(t)
	bare := allocations(m.bare)
	require.LessOrEqual(t, allocations(m.allowed)-bare, float64(allowed), "allowed")
	require.LessOrEqual(t, allocations(m.refused)-bare, float64(refused), "refused")
}

var text = []byte("data\n")

// server is an Echo with one route behind l; bare when l is nil.
func server(l *core.Limiter) http.Handler {
	e := echo.New()
	if l != nil {
		e.Use(echolimit.New(l, func(c echo.Context) (core.Identity, error) {
			return core.Identity{Key: c.Request().Header.Get("X-Api-Key"), Tier: "free"}, nil
		}))
	}
	e.GET("/data", func(c echo.Context) error {
		_, err := c.Response().Write(text)
		return err
	})
	return e
}
