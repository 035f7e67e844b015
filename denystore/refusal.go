package denystore

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// refusal is what a store's answer said about a caller for whom a cost did not
// fit. It is never changed, but for who asks next.
type refusal struct {
	who    fingerprint
	n      int
	limits [core.MaxLimits]core.Limit
	cost   int
	levels [core.MaxLimits]core.Level
	exact  bool // GCRA alone: what stands later, and after a charge, is arithmetic

	asked time.Duration // the earliest that the store may have judged: a refusal ends as if it had
	lag   time.Duration // how much later it answered: waits are told as if it had judged then
	since time.Duration // when this was noted
	fits  time.Duration // when cost may fit again
	until time.Duration // how long it is believed: for two ages, a claim for one
	open  *atomic.Int32 // of a claim: how many of those that it counts in are not answered

	ask  atomic.Int64 // from when on one request asks again
	used atomic.Bool  // somebody was refused by it
}

// answer is what a store said, and when.
type answer struct {
	levels          *[core.MaxLimits]core.Level
	asked, answered time.Duration
}

// newRefusal is what a refused r tells; nil when that is not how long to wait.
func newRefusal(who fingerprint, r *core.Request, a answer, maxAge time.Duration) *refusal {
	d := &refusal{who: who, n: len(r.Limits), cost: r.Cost, exact: true}
	copy(d.limits[:], r.Limits)
	for _, l := range r.Limits {
		d.exact = d.exact && l.Algorithm == core.GCRA
	}
	d.note(*a.levels, a.asked, maxAge)
	d.lag, d.since = a.answered-a.asked, a.answered
	if d.fits == d.asked {
		return nil
	}
	return d
}

// note has d tell of levels that were asked for at some time.
func (d *refusal) note(levels [core.MaxLimits]core.Level, asked, maxAge time.Duration) {
	d.levels, d.asked = levels, asked
	var wait time.Duration
	for _, l := range levels[:d.n] {
		wait = max(wait, l.RetryAfter)
	}
	d.fits = plus(asked, wait)
	d.ask.Store(int64(plus(asked, maxAge)))
	d.until = plus(plus(asked, maxAge), maxAge)
}

// after is what is known once a store has told other levels of the same windows:
// a charge was allowed, or units came back. It is nil where the cost fits, or
// does not fit into a log, of which the levels do not tell when it will.
func (d *refusal) after(a answer, maxAge time.Duration) *refusal {
	levels := *a.levels
	for i, l := range d.limits[:d.n] {
		if l.Algorithm == core.SlidingLog && levels[i].Remaining < d.cost {
			return nil
		}
		levels[i] = later(l, levels[i], 0, d.cost)
	}
	next := &refusal{who: d.who, n: d.n, limits: d.limits, cost: d.cost, exact: d.exact}
	next.note(levels, a.asked, maxAge)
	next.lag, next.since = a.answered-a.asked, a.answered
	// Where others want the same, it is known what to refuse beyond what fits.
	if next.fits == next.asked && !(d.exact && d.used.Load()) {
		return nil
	}
	return next
}

// under tells whether r asks under the same limits.
func (d *refusal) under(r *core.Request) bool {
	if len(r.Limits) != d.n {
		return false
	}
	for i, l := range r.Limits {
		if l != d.limits[i] {
			return false
		}
	}
	return true
}

// covers tells whether what was refused says that r does not fit either. A
// cost that no full bucket holds is the store's to refuse.
func (d *refusal) covers(r *core.Request) bool {
	if r.Cost < d.cost || !d.under(r) {
		return false
	}
	for _, l := range r.Limits {
		if r.Cost > l.Burst || l.Algorithm == core.SlidingLog && r.Cost > d.cost {
			return false
		}
	}
	return true
}

// lasts is how long d is of use: of age, nobody may have asked for it for hours.
func (d *refusal) lasts() time.Duration { return min(d.fits, time.Duration(d.ask.Load())) }

// due has the next one ask, whoever it is.
func (d *refusal) due() { d.ask.Store(int64(d.since)) }

// wait is how long until cost may fit; not above 0 when it may now.
func (d *refusal) wait(cost int, now time.Duration) time.Duration {
	if !d.exact || cost == d.cost {
		return d.fits - now
	}
	var wait time.Duration
	for i, l := range d.limits[:d.n] {
		wait = max(wait, later(l, d.levels[i], now-d.asked, cost).RetryAfter)
	}
	return wait
}

// result is the answer to r, some time later.
func (d *refusal) result(r *core.Request, now time.Duration) core.Result {
	if !d.used.Load() {
		d.used.Store(true)
	}
	var res core.Result
	for i, l := range r.Limits {
		res.Levels[i] = later(l, d.levels[i], now-d.asked-d.lag, r.Cost)
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

// plus is a moment some time later, and the end of time at most.
func plus(at, d time.Duration) time.Duration {
	if d > 0 && at > math.MaxInt64-d {
		return math.MaxInt64
	}
	return at + d
}
