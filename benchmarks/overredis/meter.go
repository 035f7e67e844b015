package overredis

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/tierlimit/tierlimit/internal/redistest"
)

// expense is what a turn cost the server, for each check.
type expense struct {
	calls float64 // commands that the client sent
	usec  float64 // µs in these, by the server's statistics of commands
	cpu   float64 // µs of the server's processor, with reading and writing
}

// meter charges what a server spends to the player whose turn it is.
type meter struct {
	tb     testing.TB
	server *redistest.Server

	stats map[string]redistest.CommandStat
	cpu   float64
	whose *player
	n     int
}

// turn ends the turn of who was before, and begins one of n checks.
func (m *meter) turn(p *player, n int) {
	stats, cpu := m.server.CommandStats(m.tb), m.processor()
	if m.whose != nil {
		var e expense
		for name, now := range stats {
			share := m.whose.habit.share(name)
			e.calls += share * float64(now.Calls-m.stats[name].Calls)
			e.usec += share * float64(now.Usec-m.stats[name].Usec)
		}
		checks := float64(m.n)
		e.calls, e.usec, e.cpu = e.calls/checks, e.usec/checks, (cpu-m.cpu)/checks
		m.whose.spent = append(m.whose.spent, e)
	}
	m.stats, m.cpu, m.whose, m.n = stats, cpu, p, n
}

// end ends the last turn.
func (m *meter) end() { m.turn(nil, 0) }

// processor is the server's time so far, in µs.
func (m *meter) processor() float64 {
	var sum float64
	for line := range strings.Lines(fmt.Sprint(m.server.Do(m.tb, "info", "cpu"))) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "used_cpu_sys" || name == "used_cpu_user" {
			seconds, err := strconv.ParseFloat(value, 64)
			if err != nil {
				m.tb.Fatal(err)
			}
			sum += seconds * 1e6
		}
	}
	return sum
}
