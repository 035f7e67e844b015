package redisstore

import (
	"math"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// rate is one GCRA window in microseconds. A script tells its debt, how long
// until it is full; what follows from that is reckoned here as in core/gcra.go.
type rate struct {
	step int64 // T: one unit in time
	tau  int64 // a full bucket in time
}

const maxDebt = int64(1) << 52

// inTime is T × cost, bounded: what is longer than the longest debt fits no
// bucket, and gives back any.
func (r rate) inTime(cost int64) int64 {
	if most := maxDebt / r.step; cost > most {
		return maxDebt + 1
	} else if cost < -most {
		return -maxDebt - 1
	}
	return r.step * cost
}

// wait is how long until cost fits.
func (r rate) wait(debt, cost int64) int64 {
	if cost <= 0 {
		return 0
	}
	if cost > maxDebt/r.step {
		return maxDebt
	}
	return max(debt+r.step*cost-r.tau, 0)
}

// force is what a forced cost leaves behind and takes.
func (r rate) force(debt, cost int64) (after, taken int64) {
	if cost < 0 {
		if -cost > debt/r.step {
			return 0, cost
		}
		return debt + r.step*cost, cost
	}
	fit := max(r.tau-debt, 0) / r.step
	if cost <= fit {
		return debt + r.step*cost, cost
	}
	return max(debt, r.tau), fit
}

// level is what stands in the window.
func (r rate) level(debt, wait int64) core.Level {
	return core.Level{
		Remaining:  clampInt(max(r.tau-debt, 0) / r.step),
		ResetAfter: duration(debt),
		RetryAfter: duration(wait),
	}
}

// bounded keeps a cost below 2^53, which Lua's numbers hold exactly. No bucket
// holds so much, so nothing is changed by it.
func bounded(cost int) int64 {
	const exact = int64(1)<<53 - 1
	return min(max(int64(cost), -exact), exact)
}

// duration is us microseconds, saturating at 292 years.
func duration(us int64) time.Duration {
	if us > math.MaxInt64/int64(time.Microsecond) {
		return math.MaxInt64
	}
	return time.Duration(us) * time.Microsecond
}

// clampInt fits v into an int, which has 32 bits on some machines.
func clampInt(v int64) int { return int(min(max(v, math.MinInt), math.MaxInt)) }
