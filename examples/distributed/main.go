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
	"net"
	"net/http"
	"os"
	"time"

	"github.com/redis/rueidis"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
	"github.com/tierlimit/tierlimit/redisstore"
)

func main() {
	redis := flag.String("redis", "127.0.0.1:6379", "address of the Redis to share limits through")
	first := flag.String("first", "127.0.0.1:3000", "address of the first instance")
	second := flag.String("second", "127.0.0.1:3001", "address of the second instance")
	flag.Parse()
	if err := run(*redis, [2]string{*first, *second}, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run asks two instances in turns until ten requests have passed and one has not.
func run(redis string, addrs [2]string, out io.Writer) error {
	for _, addr := range addrs {
		store, err := redisstore.Open(rueidis.ClientOption{InitAddress: []string{redis}})
		if err != nil {
			return err
		}
		defer store.Close() //nolint:gocritic // both live until the end
		server, err := serve(store, addr)
		if err != nil {
			return err
		}
		defer server.Close() //nolint:errcheck,gocritic // as above
	}
	caller := "ana-" + time.Now().Format(time.RFC3339Nano) // nobody yet, so the bucket is full
	for n := range 11 {
		addr := addrs[n%2]
		status, left, err := ask(addr, caller)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "request %2d to %s: %d, %s left\n", n+1, addr, status, left)
	}
	return nil
}

// serve starts an instance on a store of its own, as another process would.
func serve(store *redisstore.Store, addr string) (*http.Server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	// Without this wait it would serve at once, and limit as soon as Redis is there.
	if err := store.Ready(ctx); err != nil {
		return nil, err
	}
	limiter, err := core.New(store, core.Plans{Tiers: map[string]core.Quota{"free": core.PerMinute(10)}, Default: "free"})
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: httplimit.New(limiter, identify)(http.HandlerFunc(data)), ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }() // until it is closed
	return server, nil
}

func identify(r *http.Request) (core.Identity, error) {
	return core.Identity{Key: r.Header.Get("X-Api-Key")}, nil
}

func data(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "data") }

// ask sends one request of a caller's.
func ask(addr, caller string) (status int, left string, err error) {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+addr, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("X-Api-Key", caller)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	return response.StatusCode, response.Header.Get("X-RateLimit-Remaining"), response.Body.Close()
}
