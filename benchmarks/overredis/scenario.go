package overredis

import (
	"time"
)

// scenario is what the contenders are asked.
type scenario struct {
	name       string
	contenders []contender // ours first
	limit      limit
	allowed    bool // whether a check should be
	callers    int
	turn       func(name string, workers int) int // checks that a contender makes before the next has its turn
}

var (
	// plenty allows whatever a run may ask for.
	plenty = limit{burst: 1 << 26, period: time.Minute}
	// spent refuses all but the first, for an hour.
	spent = limit{burst: 1, period: time.Hour}
)

func (r *report) allowed() scenario {
	return scenario{
		name: "allowed", contenders: all(), limit: plenty, allowed: true,
		callers: r.callers, turn: r.shorterAlone,
	}
}

func (r *report) refused() scenario {
	return scenario{name: "refused", contenders: all(), limit: spent, callers: r.callers, turn: r.shorterAlone}
}

// shorterAlone gives one goroutine a fifth, because it makes a fifth as many
// checks a second.
func (r *report) shorterAlone(_ string, workers int) int {
	if workers == 1 {
		return r.turn / 5
	}
	return r.turn
}

// hot is a crowd that asks for one caller.
func (r *report) hot() scenario {
	return scenario{
		name: "hot key, allowed", contenders: withoutThrottled(), limit: plenty, allowed: true,
		callers: 1, turn: func(string, int) int { return r.turn },
	}
}

// flood is what denystore is for: some who hammer although they are refused.
func (r *report) flood() scenario {
	return scenario{
		name:       "refused flood",
		contenders: append([]contender{{nameDenying, openDenying}}, withoutThrottled()...),
		limit:      spent,
		callers:    100,
		turn: func(name string, _ int) int {
			if name == nameDenying {
				return 40 * r.turn // else it would be over before it is fast
			}
			return r.turn
		},
	}
}

// withoutThrottled are those that do not give up where many ask for one key.
func withoutThrottled() []contender {
	var some []contender
	for _, c := range all() {
		if c.name != nameThrottled {
			some = append(some, c)
		}
	}
	return some
}
