package overredis

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tierlimit/tierlimit/internal/redistest"
)

// audited is how many checks are looked at word by word.
const audited = 100

// habit is what a contender does for a check, when it makes one at a time.
type habit struct {
	trips        float64 // round trips
	sent, called float64 // commands from the client, and from the scripts among them

	shares map[string]float64 // of the calls of a command, those that the client sent
}

// audit watches a client of its own, on callers that Redis knows already.
func audit(tb testing.TB, server *redistest.Server, c contender, l limit, ids []string) habit {
	tb.Helper()
	var writes atomic.Int64
	ask := c.open(tb, place{server: server, writes: &writes}, l)
	all := func() {
		for i := range audited {
			if _, err := ask(tb.Context(), ids[i%len(ids)]); err != nil {
				tb.Fatal(c.name, ": ", err)
			}
		}
	}
	all()
	before := writes.Load()
	monitor := server.Monitor(tb)
	all()
	seen := monitor.Stop(tb)
	h := habit{trips: float64(writes.Load()-before) / audited, shares: map[string]float64{}}
	sent, called := map[string]float64{}, map[string]float64{}
	for _, command := range seen {
		name := strings.ToLower(command.Words[0])
		if command.Client == "lua" {
			called[name]++
			h.called += 1.0 / audited
		} else {
			sent[name]++
			h.sent += 1.0 / audited
		}
	}
	for name, n := range sent {
		h.shares[name] = n / (n + called[name])
	}
	return h
}

// share is how much of what the server counts of a command the client has sent.
// What scripts call is within the time of the script already.
func (h habit) share(command string) float64 {
	share, ok := h.shares[command]
	if !ok && strings.HasPrefix(command, "eval") {
		return 1 // Scripts call none, and some are called only when many ask.
	}
	return share
}
