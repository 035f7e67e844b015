package memstore

import (
	"math"
	"math/bits"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// rate is one GCRA window in microseconds. Its steps are those of core's
// gcra.go, inlined because the general core.Apply costs more than the rest of
// a check; tests hold the two against each other.
type rate struct {
	step  int64 // one unit in time
	tau   int64 // a full bucket in time
	burst int64
}

const (
	jitter  = int64(time.Second / time.Microsecond)
	maxDebt = int64(1) << 52
)

func rateOf(l *core.Limit) rate {
	window := int64(1)
	if l.Window > 0 {
		window = (int64(l.Window)-1)/int64(time.Microsecond) + 1
	}
	r := rate{step: (window-1)/max(int64(l.Count), 1) + 1, tau: maxDebt, burst: max(int64(l.Burst), 0)}
	if hi, lo := bits.Mul64(uint64(r.step), uint64(r.burst)); hi == 0 && lo <= uint64(maxDebt) {
		r.tau = int64(lo)
	} else {
		r.burst = maxDebt / r.step // a dearer cost could wrap
	}
	return r
}

// charge is judge for the usual charge: the tat that it makes, beyond now + tau
// where it does not fit. Where more has to be looked at, it is not the usual one.
func (r *rate) charge(now, tat, cost int64) (next int64, usual bool) {
	if cost <= 0 || cost > r.burst || tat > now+r.tau+jitter {
		return 0, false
	}
	return max(tat, now) + r.step*cost, true
}

// verdict is what a request makes of a bucket.
type verdict struct {
	tat     int64 // what stands afterwards
	wait    int64 // until the cost fits; 0 when it does
	charged int64
	mended  bool // it stood beyond an empty bucket
	write   bool // the bucket has changed
}

// judge does one request to a bucket whose stored tat is tat; a fresh bucket's
// is now.
func (r *rate) judge(now, tat, cost int64, mode core.Mode) verdict {
	v := verdict{tat: max(tat, now)}
	if v.tat > now+r.tau+jitter {
		v.tat = now + r.tau
		v.write, v.mended = true, true
	}
	if mode == core.Force {
		r.force(&v, now, cost)
		return v
	}
	if cost > 0 {
		v.wait = r.wait(v.tat, now, cost)
	}
	switch {
	case mode != core.Charge || cost <= 0:
		v.write = false
	case v.wait == 0:
		v.tat += r.step * cost
		v.charged = cost
		v.write = true
	}
	return v
}

func (r *rate) wait(tat, now, cost int64) int64 {
	if cost > r.burst && cost > maxDebt/r.step {
		return maxDebt
	}
	return max(tat+r.step*cost-r.tau-now, 0)
}

func (r *rate) force(v *verdict, now, cost int64) {
	room := max(now+r.tau-v.tat, 0)
	v.charged = cost
	switch held := v.tat - now; {
	case cost < 0 && cost < -(held/r.step):
		v.tat = now
	case cost <= room/r.step:
		v.tat += r.step * cost
	default:
		v.charged = room / r.step
		v.tat = max(v.tat, now+r.tau)
	}
	v.write = true
}

// exhausted tells whether not even one unit is left.
func (r *rate) exhausted(tat, now int64) bool { return now+r.tau-tat < r.step }

// answer tells v as a store's fresh Result, but for the clock.
func (r *rate) answer(v *verdict, now int64, res *core.Result) {
	res.Allowed, res.Charged = v.wait == 0, clampInt(v.charged)
	res.Levels[0] = r.level(now, v.tat, v.wait)
}

// level is what stands in a bucket whose tat is tat.
func (r *rate) level(now, tat, wait int64) core.Level {
	return core.Level{
		Remaining:  clampInt(max(r.tau-(tat-now), 0) / r.step),
		ResetAfter: duration(tat - now),
		RetryAfter: duration(wait),
	}
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
