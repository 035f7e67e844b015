// Command twolimits guards an API twice: by address before the login, so that
// guessing keys is slow, and by plan after it, so that a customer gets what he
// pays for. The login route counts failures only.
//
//	go run ./examples/twolimits                          # Gin on :3000, Echo on :3001
//	curl -i -d password=wrong localhost:3000/login       # the sixth is 429
//	curl -i -H 'X-Api-Key: key_ana' localhost:3000/data
package main

import (
	"flag"
	"log"
	"net/http"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/memstore"
)

// plans holds what addresses get beside what is sold. One table, one store: a
// bucket belongs to a tier and a key, so addresses and accounts never mix.
var plans = core.Plans{
	Tiers: map[string]core.Quota{
		"address": core.PerMinute(60),
		"login":   core.PerMinute(5),
		"free":    core.PerMinute(10),
		"pro":     core.PerMinute(100),
	},
	Default: "free",
}

// accounts tells which plan an API key pays for.
var accounts = map[string]string{
	"key_ana": "free",
	"key_bea": "pro",
}

const password = "open sesame"

// succeeded is when the login route gives back what it has charged.
func succeeded(status int) bool { return status == http.StatusOK }

func main() {
	ginAddr := flag.String("gin", "127.0.0.1:3000", "address for Gin to listen on")
	echoAddr := flag.String("echo", "127.0.0.1:3001", "address for Echo to listen on")
	flag.Parse()

	limiter, err := core.New(memstore.New(), plans)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("Gin on http://%s, Echo on http://%s", *ginAddr, *echoAddr)
	go func() { log.Fatal(http.ListenAndServe(*ginAddr, newGin(limiter))) }()
	log.Fatal(http.ListenAndServe(*echoAddr, newEcho(limiter)))
}
