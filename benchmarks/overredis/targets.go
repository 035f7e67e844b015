package overredis

import (
	"fmt"
	"math"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
)

// promises collects what ours should reach, and what it has reached.
type promises []duel.Target

// common are those of any scenario with many callers and goroutines.
func (p *promises) common(s scenario, workers int, scores []score) {
	ours, redisRate, ulule := scores[0], find(scores, nameRedisRate), find(scores, nameUlule)
	where := fmt.Sprintf("%s, goroutines: %d: ", s.name, workers)
	*p = append(*p,
		duel.Target{What: where + "checks/s / " + nameRedisRate, Value: ours.faster(redisRate), Bound: 2, AtLeast: true},
		duel.Target{What: where + "checks/s / " + nameUlule, Value: ours.faster(ulule), Bound: 1.3, AtLeast: true},
		duel.Target{What: where + "server µs / " + nameRedisRate, Value: ours.cheaper(redisRate), Bound: 0.7},
		// The goroutines of a turn are made in it, which is in the second digit.
		duel.Target{What: where + "client allocs", Value: math.Round(10*ours.Allocs) / 10, Bound: 4},
	)
}

// faster is that ours makes so many times the checks of redis_rate.
func (p *promises) faster(s scenario, workers int, scores []score, bound float64) {
	*p = append(*p, duel.Target{
		What:  fmt.Sprintf("%s, goroutines: %d: checks/s / %s", s.name, workers, nameRedisRate),
		Value: scores[0].faster(find(scores, nameRedisRate)), Bound: bound, AtLeast: true,
	})
}

func find(scores []score, name string) score {
	for _, s := range scores {
		if s.Name == name {
			return s
		}
	}
	return score{}
}
