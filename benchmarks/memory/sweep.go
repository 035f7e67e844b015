package memory

import (
	"runtime"
	"strconv"
	"time"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
	"github.com/tierlimit/tierlimit/benchmarks/rival"
)

// stall is the longest single check beside a full store.
type stall struct {
	name    string
	rests   float64 // ms, while no key runs out
	sweeps  float64 // ms, while all of them do
	freed   float64 // the share of the store's heap that was given back in the end
	dropped bool    // whether the contender drops keys at all
}

// stalls fills stores whose keys all run out while a few live ones are asked,
// and stores whose keys do not, by turns. The longest checks are medians over
// the rounds, since a preemption by a neighbour takes milliseconds too.
func stalls(o duel.Options, keys []string) []stall {
	rounds, window := min(o.Rounds, 3), time.Second
	if o.Quick {
		rounds, window = 1, 40*time.Millisecond
	}
	var found []stall
	for _, c := range rival.All() {
		s := stall{name: c.Name, dropped: c.Drops}
		var rests, sweeps, freed []float64
		for range rounds {
			if !c.Drops {
				continue
			}
			took, share := longest(c, keys, rival.Limit{Count: 1, Window: window, Keep: window}, 5*window/2)
			sweeps, freed = append(sweeps, took), append(freed, share)
			took, _ = longest(c, keys, rival.Endless, 5*window/2)
			rests = append(rests, took)
		}
		if c.Drops {
			s.rests, s.sweeps, s.freed = duel.Quantile(rests, 0.5), duel.Quantile(sweeps, 0.5), duel.Quantile(freed, 0.5)
		}
		found = append(found, s)
	}
	return found
}

// longest is the longest check in ms in the time after a store was filled, and
// the share of its heap that was free again in the end.
func longest(c rival.Contender, keys []string, l rival.Limit, ask time.Duration) (ms, freed float64) {
	before := heap()
	check, stop := c.Open(l)
	defer stop()
	for _, key := range keys {
		_, _ = check(key)
	}
	full := heap()
	live := make([]string, 1000)
	for i := range live {
		live[i] = "live-" + strconv.Itoa(i)
	}
	var most time.Duration
	last := time.Now()
	for i, end := 0, last.Add(ask); last.Before(end); i++ {
		_, _ = check(live[i%len(live)])
		now := time.Now()
		most = max(most, now.Sub(last))
		last = now
	}
	freed = (full - heap()) / (full - before)
	runtime.KeepAlive(check)
	runtime.KeepAlive(keys)
	return float64(most) / float64(time.Millisecond), freed
}
