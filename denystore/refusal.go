package denystore

import (
	"sync/atomic"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// refusal is a store's answer that a cost does not fit. It is never changed,
// but for who asks next.
type refusal struct {
	who    fingerprint
	n      int
	limits [core.MaxLimits]core.Limit
	cost   int
	at     time.Duration // by the store's clock: when it was answered, and levels began to be counted down
	fits   time.Duration // when the cost may fit again, had it been judged as soon as it was asked
	levels [core.MaxLimits]core.Level

	degraded bool
	ask      atomic.Int64 // from when on one request asks again
}

func newRefusal(who fingerprint, r *core.Request, res *core.Result, asked, now, maxAge time.Duration) *refusal {
	d := &refusal{
		who: who, n: len(r.Limits), cost: r.Cost,
		at: now, levels: res.Levels, degraded: res.Degraded,
	}
	copy(d.limits[:], r.Limits)
	for _, l := range d.levels[:d.n] {
		d.fits = max(d.fits, l.RetryAfter)
	}
	d.fits += asked
	d.ask.Store(int64(asked + maxAge))
	return d
}

// covers tells whether what was refused says that r does not fit either. A
// cost that no full bucket holds is the store's to refuse.
func (d *refusal) covers(r *core.Request) bool {
	if len(r.Limits) != d.n || r.Cost < d.cost {
		return false
	}
	for i, l := range r.Limits {
		if l != d.limits[i] || r.Cost > l.Burst || l.Algorithm == core.SlidingLog && r.Cost > d.cost {
			return false
		}
	}
	return true
}

// holds tells whether the refusal is good at now. When it is of age, the first
// to come is told no, and asks.
func (d *refusal) holds(now, maxAge time.Duration) bool {
	if now < d.at || now >= d.fits {
		return false
	}
	due := d.ask.Load()
	return int64(now) < due || !d.ask.CompareAndSwap(due, int64(now+maxAge))
}

// result is the answer to r, some time later.
func (d *refusal) result(r *core.Request, now time.Duration) core.Result {
	res := core.Result{Degraded: d.degraded}
	for i, l := range r.Limits {
		res.Levels[i] = later(l, d.levels[i], now-d.at, r.Cost)
	}
	return res
}

// later is what stands in a window some time after a refusal, in which nothing
// was charged, and how long until cost fits.
func later(l core.Limit, was core.Level, passed time.Duration, cost int) core.Level {
	level := core.Level{
		Remaining:  was.Remaining,
		ResetAfter: max(was.ResetAfter-passed, 0),
		RetryAfter: max(was.RetryAfter-passed, 0),
	}
	if level.ResetAfter == 0 {
		level.Remaining = l.Burst
	}
	switch l.Algorithm {
	case core.GCRA:
		step, tau := l.Emission(), l.Tolerance()
		level.Remaining = int(max(tau-level.ResetAfter, 0) / step)
		level.RetryAfter = max(level.ResetAfter+step*time.Duration(cost)-tau, 0)
	case core.FixedWindow:
		if cost > level.Remaining {
			level.RetryAfter = level.ResetAfter // both are the end of the window
		}
	case core.SlidingLog:
	}
	return level
}
