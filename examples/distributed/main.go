// Command distributed starts two instances of an API on two ports against one
// Redis, and asks them in turns: ten requests pass, whichever answers them.
//
//	go run ./examples/distributed -redis 127.0.0.1:6379
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/redis/rueidis"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
	"github.com/tierlimit/tierlimit/redisstore"
)

func main() {
	redis := flag.String("redis", "127.0.0.1:6379", "address of the Redis to share limits through")
	flag.Parse()
	if err := run(*redis, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run alternates between two instances until one refuses.
func run(redis string, out io.Writer) error {
	first, err := start(redis)
	if err != nil {
		return err
	}
	defer first.stop()
	second, err := start(redis)
	if err != nil {
		return err
	}
	defer second.stop()

	for n := 1; n <= 11; n++ {
		to, name := first, "first"
		if n%2 == 0 {
			to, name = second, "second"
		}
		status, left, err := ask(to.url)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "request %2d to the %-6s instance: %d, %s left\n", n, name, status, left)
	}
	return nil
}

// instance is one server with a store of its own, as another process would be.
type instance struct {
	url  string
	stop func()
}

func start(redis string) (*instance, error) {
	store, err := redisstore.Open(rueidis.ClientOption{InitAddress: []string{redis}})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	// A service would rather start, and limit as soon as Redis is there.
	if err := store.Ready(ctx); err != nil {
		store.Close()
		return nil, err
	}
	limiter, err := core.New(store, core.Plans{
		Tiers:   map[string]core.Quota{"free": core.PerMinute(10)},
		Default: "free",
	})
	if err != nil {
		store.Close()
		return nil, err
	}
	server := httptest.NewServer(httplimit.New(limiter, identify)(http.HandlerFunc(data)))
	return &instance{url: server.URL, stop: func() {
		server.Close()
		store.Close()
	}}, nil
}

func identify(r *http.Request) (core.Identity, error) {
	return core.Identity{Key: r.Header.Get("X-Api-Key")}, nil
}

func data(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "data") }

// ask sends one request of the same caller. His key is new at each run, so that
// the bucket is full.
func ask(url string) (status int, left string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("X-Api-Key", caller)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	if err := response.Body.Close(); err != nil {
		return 0, "", err
	}
	return response.StatusCode, response.Header.Get("X-RateLimit-Remaining"), nil
}

var caller = "ana-" + time.Now().Format(time.RFC3339Nano)
