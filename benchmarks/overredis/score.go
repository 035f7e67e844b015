package overredis

import (
	"testing"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
	"github.com/tierlimit/tierlimit/internal/redistest"
)

// score is how a player did in a race.
type score struct {
	duel.Row

	spent  []expense // turn by turn
	faulty float64   // share of the checks that failed or were answered wrongly
}

// race lets the players make their turns, in random order in every round.
func (s scenario) race(tb testing.TB, o duel.Options, server *redistest.Server, players []*player, workers int) []score {
	tb.Helper()
	m := &meter{tb: tb, server: server}
	racing := make([]duel.Candidate, len(players))
	began := make([]int, len(players))
	for i, p := range players {
		p.spent = nil
		p.faults.Store(0)
		began[i] = p.done
		racing[i] = duel.Candidate{
			Name:    p.name,
			N:       s.turn(p.name, workers),
			Prepare: func(n int) { m.turn(p, n) },
			Run:     func(n int) { p.play(tb.Context(), n, workers) },
		}
	}
	rows := duel.Race(o, racing...)
	m.end()
	scores := make([]score, len(players))
	for i, p := range players {
		scores[i] = score{Row: rows[i], spent: p.spent, faulty: float64(p.faults.Load()) / float64(p.done-began[i])}
	}
	return scores
}

func (s score) perSecond() float64 { return 1e9 / s.Ns }

// faster is how many times as many checks a second s makes as other, as a
// median over the rounds.
func (s score) faster(other score) float64 {
	return duel.Quantile(duel.Ratios(other.Rounds, s.Rounds), 0.5)
}

// cheaper is what s costs the server over what other costs it, likewise.
func (s score) cheaper(other score) float64 {
	return duel.Quantile(duel.Ratios(s.each(usec), other.each(usec)), 0.5)
}

func (s score) median(of func(expense) float64) float64 { return duel.Quantile(s.each(of), 0.5) }

func (s score) each(of func(expense) float64) []float64 {
	values := make([]float64, len(s.spent))
	for i, e := range s.spent {
		values[i] = of(e)
	}
	return values
}

func calls(e expense) float64 { return e.calls }
func usec(e expense) float64  { return e.usec }
func cpu(e expense) float64   { return e.cpu }
