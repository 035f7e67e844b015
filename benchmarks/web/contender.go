package web

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/labstack/echo/v4"
)

const (
	plan = "free"
	// window is so long that no limit recovers while it is measured.
	window = 30 * 24 * time.Hour
	// plenty and one are the counts in a window under which all requests are
	// allowed, or all but the first refused.
	plenty = 1_000_000_000
	one    = 1
)

// The frameworks, by which a contender finds its bare handler.
const (
	onGin  = "gin"
	onEcho = "echo"
	onHTTP = "net/http"
)

// contender is a limiter in a framework.
type contender struct {
	name      string
	framework string // of the bare handler that it is compared with
	kind      kind
	build     func(count int) (http.Handler, error)
}

type kind int

const (
	ours   kind = iota
	peer        // writes rate headers, as ours do
	silent      // writes none, and is shown for the record
	floor       // limits nothing: what any of ours has to do beside
)

func contenders() []contender {
	return []contender{
		{"ginlimit", onGin, ours, ginlimitServer},
		{"echolimit", onEcho, ours, echolimitServer},
		{"httplimit", onHTTP, ours, httplimitServer},
		{"gin + sethvargo by hand", onGin, peer, sethvargoGin},
		{"gin + ulule", onGin, peer, ululeGin},
		{"net/http + sethvargo", onHTTP, peer, sethvargoHTTP},
		{"net/http + httprate", onHTTP, peer, httprateServer},
		{"net/http + throttled", onHTTP, peer, throttledServer},
		{"net/http + tollbooth", onHTTP, peer, tollboothServer},
		{"echo + its own", onEcho, silent, echoOwn},
		{"net/http, no limit at all", onHTTP, floor, floorServer},
	}
}

// bare is a framework's handler without a limiter.
type bare struct {
	framework string
	handler   http.Handler
}

func bares() []bare {
	return []bare{{onGin, newGin()}, {onEcho, newEcho()}, {onHTTP, answer}}
}

var text = []byte("data\n")

// answer is the handler behind every limiter of net/http.
var answer = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(text) })

// newGin is an engine with the same handler behind some middleware.
func newGin(limit ...gin.HandlerFunc) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(limit...)
	r.GET("/data", func(c *gin.Context) { _, _ = c.Writer.Write(text) })
	return r
}

// newEcho is an Echo with the same handler behind some middleware.
func newEcho(limit ...echo.MiddlewareFunc) http.Handler {
	e := echo.New()
	e.Use(limit...)
	e.GET("/data", func(c echo.Context) error {
		_, err := c.Response().Write(text)
		return err
	})
	return e
}
