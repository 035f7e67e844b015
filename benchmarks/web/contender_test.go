package web

import (
	"net/http"
	"testing"
	"time"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
)

// TestContendersLimit keeps the comparison honest: each of them lets three
// requests pass and refuses the fourth, and those that are said to write rate
// headers do.
func TestContendersLimit(t *testing.T) {
	t.Parallel()
	const count = 3
	for _, c := range contenders() {
		if c.kind == floor {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h, err := c.build(count)
			if err != nil {
				t.Fatal(err)
			}
			client := newClient(t.Context(), h)
			for i := range count + 2 {
				want := http.StatusOK
				if i >= count {
					want = http.StatusTooManyRequests
				}
				if got := client.send(); got != want {
					t.Fatalf("request %d is answered %d, not %d", i+1, got, want)
				}
				if got, want := headers(client.header), c.kind != silent; got != want {
					t.Fatalf("request %d: rate headers: %t: %v", i+1, got, client.header)
				}
			}
		})
	}
}

// headers says whether a limit, what remains and a reset are told.
func headers(h http.Header) bool {
	for _, prefix := range []string{"X-Ratelimit-", "Ratelimit-"} {
		if h.Get(prefix+"Limit") != "" && h.Get(prefix+"Remaining") != "" && h.Get(prefix+"Reset") != "" {
			return true
		}
	}
	return false
}

// TestRaceMeasures runs what Tables runs, too shortly for its figures to mean
// anything.
func TestRaceMeasures(t *testing.T) {
	t.Parallel()
	if err := Tables(duel.Options{Rounds: 1, Slice: 100 * time.Microsecond}, t.Output()); err != nil {
		t.Fatal(err)
	}
}
