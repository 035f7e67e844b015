package overredis

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tierlimit/tierlimit/internal/redistest"
)

// player is a contender that has opened its client.
type player struct {
	name  string
	ask   check
	ids   []string
	want  bool // what a check should be answered with
	habit habit
	spent []expense // turn by turn
	done  int       // checks so far: each turn goes on where the last has ended

	faults atomic.Int64 // errors and wrong answers
}

// newPlayers opens the contenders, has each of them see every caller once, and
// audits them.
func newPlayers(tb testing.TB, server *redistest.Server, s scenario) []*player {
	tb.Helper()
	ids := names(strings.ReplaceAll(s.name, " ", "-"), s.callers)
	players := make([]*player, len(s.contenders))
	for i, c := range s.contenders {
		p := &player{name: c.name, ask: c.open(tb, place{server: server}, s.limit), ids: ids, want: s.allowed}
		p.play(tb.Context(), len(ids), 64)
		p.habit = audit(tb, server, c, s.limit, ids)
		p.faults.Store(0) // The first check of a caller is always allowed.
		players[i] = p
	}
	return players
}

func names(scenario string, n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("%s-%05d", scenario, i)
	}
	return ids
}

// play makes n checks from so many goroutines. Neighbours ask for callers that
// are far from each other.
func (p *player) play(ctx context.Context, n, workers int) {
	const stride = 2131 // prime
	var running sync.WaitGroup
	for w := range workers {
		running.Go(func() {
			var faults int64
			for i := w; i < n; i += workers {
				allowed, err := p.ask(ctx, p.ids[(p.done+i)*stride%len(p.ids)])
				if err != nil || allowed != p.want {
					faults++
				}
			}
			p.faults.Add(faults)
		})
	}
	running.Wait()
	p.done += n
}
