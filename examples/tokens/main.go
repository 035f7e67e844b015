// Command tokens sells a language model by the token: requests a minute beside
// tokens a minute. What a prompt will cost is estimated before the model runs
// and settled afterwards, when the model has told what it used.
//
//	go run ./examples/tokens
//	curl -i -H 'X-Api-Key: key_ana' -d 'How do I limit an API by plan?' localhost:3000/chat
package main

import (
	"flag"
	"io"
	"log"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/ginlimit"
	"github.com/tierlimit/tierlimit/httplimit"
	"github.com/tierlimit/tierlimit/memstore"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:3000", "address to listen on")
	flag.Parse()

	api, err := newAPI(memstore.New())
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("listening on http://%s", *addr)
	log.Fatal(http.ListenAndServe(*addr, api))
}

// newAPI is the service over one store. The two limiters have plans of their
// own, so each has a scope of its own.
func newAPI(store core.Store) (http.Handler, error) {
	requests, err := core.New(store, core.Plans{
		Tiers: map[string]core.Quota{"free": core.PerMinute(10)}, Default: "free",
	}, core.WithScope("requests"), core.OnMissing(core.Deny(http.StatusUnauthorized)))
	if err != nil {
		return nil, err
	}
	tokens, err := core.New(store, core.Plans{
		Tiers: map[string]core.Quota{"free": core.PerMinute(1000)}, Default: "free",
	}, core.WithScope("tokens"), core.OnMissing(core.Deny(http.StatusUnauthorized)))
	if err != nil {
		return nil, err
	}

	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery())
	r.POST("/chat",
		ginlimit.New(requests, identify, ginlimit.WithFixedCost(1), ginlimit.WithHeaders(httplimit.None)),
		ginlimit.New(tokens, identify, ginlimit.WithCost(estimate)),
		chat)
	return r, nil
}

func identify(c *gin.Context) (core.Identity, error) {
	if key := c.GetHeader("X-Api-Key"); key == "key_ana" {
		return core.Identity{Key: key, Tier: "free"}, nil
	}
	return core.Identity{}, nil
}

// estimate is what the prompt alone will cost; four bytes are about a token.
func estimate(c *gin.Context) int {
	prompt, err := httplimit.PeekBody(c.Request, 64<<10)
	if err != nil {
		return 1 // chat answers it
	}
	return 1 + len(prompt)/4
}

func chat(c *gin.Context) {
	prompt, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, 64<<10))
	if err != nil {
		c.String(http.StatusRequestEntityTooLarge, "the prompt is too long\n")
		return
	}
	answer, used := model(string(prompt))
	ginlimit.SetCost(c, used) // prompt and answer, settled when this returns
	c.String(http.StatusOK, answer)
}

// model stands in for a language model: it answers at length and tells how
// many tokens prompt and answer were.
func model(prompt string) (answer string, used int) {
	words := len(strings.Fields(prompt))
	answer = strings.Repeat("Limit by plan. ", words) + "\n"
	return answer, words + 3*words
}
