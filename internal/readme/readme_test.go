package readme

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/ginlimit"
	"github.com/tierlimit/tierlimit/memstore"
)

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// flat is code without indentation and blank lines.
func flat(code string) string {
	var lines []string
	for line := range strings.Lines(code) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
	}
	return strings.Join(lines, "\n")
}

func TestEveryBlockOfTheReadmeCompiles(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var code strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		code.WriteString(flat(string(source)) + "\n")
	}
	blocks := goBlock.FindAllStringSubmatch(string(readme), -1)
	require.GreaterOrEqual(t, len(blocks), 10)
	for _, block := range blocks {
		require.Contains(t, code.String(), flat(block[1]), "this block of the README is in no file of internal/readme")
	}
}

func TestReadmeStoreOpensWithoutRedis(t *testing.T) {
	t.Parallel()
	_, err := shared(core.Plans{Tiers: map[string]core.Quota{"free": core.PerMinute(10)}})
	require.NoError(t, err)
	_, err = decorated(memstore.New(), 2, core.Plans{Tiers: map[string]core.Quota{"free": core.PerMinute(10)}})
	require.NoError(t, err)
}

// The tiers that the blocks name are in the plans that the first block shows.
func TestReadmePlansHaveEveryTier(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	for _, tier := range regexp.MustCompile(`ByClientIP\("([^"]+)"`).FindAllStringSubmatch(string(readme), -1) {
		require.Regexp(t, `"`+tier[1]+`": +core\.`, string(readme))
	}
}

func TestReadmeServicesAnswer(t *testing.T) {
	gin.SetMode(gin.TestMode)
	limiter, err := core.New(memstore.New(), core.Plans{
		Tiers:   map[string]core.Quota{"free": core.PerMinute(10), "address": core.PerMinute(10)},
		Default: "free",
	})
	require.NoError(t, err)

	whole, err := setup()
	require.NoError(t, err)
	w := httptest.NewRecorder()
	whole.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/data", nil))
	require.Equal(t, http.StatusUnauthorized, w.Code)

	bare := gin.New()
	bare.Use(ginlimit.New(limiter, identifyByClaim))
	w = httptest.NewRecorder()
	bare.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/data", nil))
	require.Equal(t, http.StatusServiceUnavailable, w.Code, "no claims are not nobody")

	mux := http.NewServeMux()
	mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) {})
	e, h := otherStacks(limiter, mux)
	body := func() *http.Request {
		return httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"account":"ana"}`))
	}
	for _, handler := range []http.Handler{h, e, formats(limiter, mux)} {
		w = httptest.NewRecorder()
		handler.ServeHTTP(w, body())
		require.Equal(t, "10", w.Header().Get("X-RateLimit-Limit"))
	}
	require.Equal(t, `"free";q=10;w=60`, w.Header().Get("RateLimit-Policy"))

	engine := gin.New()
	routes(engine, limiter)
	order(engine, limiter, func(*gin.Context) {}, func(c *gin.Context) { c.Set("claims", Claims{"ana", "free"}) })
	w = httptest.NewRecorder()
	engine.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/chat", nil))
	require.Equal(t, "9", w.Header().Get("X-RateLimit-Remaining"))
	w = httptest.NewRecorder()
	engine.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/report", nil))
	require.Equal(t, http.StatusTooManyRequests, w.Code, "7 were settled, and a report costs 5")
	require.Equal(t, "3", w.Header().Get("X-RateLimit-Remaining"))
}
