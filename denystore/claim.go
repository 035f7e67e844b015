package denystore

import (
	"sync/atomic"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// verdict is what a refusal says about a request that it covers.
type verdict uint8

const (
	unknown verdict = iota // it says nothing: ask
	aged                   // it does not fit, but this one asks again
	refused                // it does not fit
	fitting                // it fits, so others must wait
)

// judge tells whether cost fits at now. When the refusal is of age, the first to
// come is the one who asks.
func (d *refusal) judge(cost int, now, maxAge time.Duration) verdict {
	if now < d.since {
		return unknown // the clock was set back
	}
	if d.wait(cost, now) > 0 {
		if now >= d.until {
			return unknown
		}
		asks := d.ask.Load()
		if int64(now) < asks || !d.ask.CompareAndSwap(asks, int64(plus(now, maxAge))) {
			return refused
		}
		return aged
	}
	if !d.exact || now > plus(d.fits, maxAge) {
		return unknown
	}
	return fitting
}

// claim is what stands once cost, which fits at now and is being asked for, is
// charged. It is believed until the store answers, and for maxAge at most.
func (d *refusal) claim(cost int, now, maxAge time.Duration) *refusal {
	var levels [core.MaxLimits]core.Level
	for i, l := range d.limits[:d.n] {
		level := later(l, d.levels[i], now-d.asked, cost)
		level.ResetAfter += l.Emission() * time.Duration(cost)
		levels[i] = later(l, level, 0, d.cost)
	}
	c := &refusal{who: d.who, n: d.n, limits: d.limits, cost: d.cost, exact: true}
	c.note(levels, now, maxAge)
	c.lag, c.since, c.until = d.lag, now, plus(now, maxAge)
	c.used.Store(d.used.Load())
	if d.open == nil {
		c.open = new(atomic.Int32)
	} else {
		c.open = d.open
		c.ask.Store(d.ask.Load()) // claims upon claims do not put off the question whether all is as thought
	}
	return c
}
