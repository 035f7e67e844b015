package storetest_test

import (
	"math"
	"slices"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

const second = int64(1_000_000)

func (c *cell) unit() int64 {
	w, n := c.limit.Window.Microseconds(), int64(c.limit.Count)
	if c.floorsT {
		return max(w/n, 1)
	}
	return (w + n - 1) / n
}

func (c *cell) tau() int64    { return c.unit() * int64(c.limit.Burst) }
func (c *cell) length() int64 { return c.limit.Window.Microseconds() }

func (c *cell) jitter() int64 {
	if c.noJitter {
		return 0
	}
	return second
}

// leaves is when an entry logged at t is no longer inside the window.
func (c *cell) leaves(t int64) int64 {
	t += c.length()
	if c.logLeavesLate {
		t++
	}
	if c.logLeavesEarly {
		t--
	}
	return t
}

// mend brings the cell to now, and tells whether a clock set back changed it.
func (c *cell) mend(now int64) bool {
	switch c.limit.Algorithm {
	case core.FixedWindow:
		current := now - now%c.length()
		if c.windowAtFirstUse {
			current = now
			if c.used > 0 && now < c.start+c.length() {
				current = c.start
			}
		}
		switch {
		case c.start < current:
			c.start, c.used = current, 0
		case !c.noMend && now < c.start-c.jitter():
			c.start = current
			return c.used > 0
		}
	case core.SlidingLog:
		if !c.hoarding {
			c.log = slices.DeleteFunc(c.log, func(t int64) bool { return c.leaves(t) <= now })
		}
		if n := len(c.log); n > 0 && !c.noMend && c.log[n-1] > now+c.jitter() {
			for i := range c.log {
				c.log[i] = min(c.log[i], now)
			}
			return true
		}
	default:
		c.tat = max(c.tat, now)
		if !c.noMend && c.tat > now+c.tau()+c.jitter() {
			c.tat = now + c.tau()
			return true
		}
	}
	return false
}

// holds tells whether the cell is anything but fresh. An emptied fixed window
// that begins ahead of now still says where the next unit counts.
func (c *cell) holds(now int64) bool {
	if c.limit.Algorithm == core.FixedWindow && c.start > now {
		return true
	}
	_, reset := c.level(now)
	return reset > 0
}

// inside are the entries of the log that are still in the window.
func (c *cell) inside(now int64) []int64 {
	return c.log[min(len(c.log), slices.IndexFunc(append(slices.Clone(c.log), math.MaxInt64/2), func(t int64) bool { return c.leaves(t) > now })):]
}

func (c *cell) room(now int64) int64 {
	remaining, _ := c.level(now)
	return remaining
}

func (c *cell) wait(now, cost int64) int64 {
	if cost <= 0 {
		if c.zeroNeedsRoom && cost == 0 && c.room(now) == 0 {
			return second
		}
		return 0
	}
	switch c.limit.Algorithm {
	case core.FixedWindow:
		if c.used+min(cost, math.MaxInt64/2) <= int64(c.limit.Count) {
			return 0
		}
		return c.start + c.length() - now
	case core.SlidingLog:
		log := c.inside(now)
		over := int64(len(log)) + min(cost, math.MaxInt64/2) - int64(c.limit.Count)
		if over <= 0 {
			return 0
		}
		if over > int64(len(log)) {
			return c.length()
		}
		return c.leaves(log[over-1]) - now
	default:
		if cost > (1<<52)/c.unit() {
			return 1 << 52
		}
		return max(c.tat+c.unit()*cost-c.tau()-now, 0)
	}
}

func (c *cell) charge(now, cost int64) {
	switch c.limit.Algorithm {
	case core.FixedWindow:
		c.used += cost
	case core.SlidingLog:
		at := now
		if n := len(c.log); n > 0 && !c.logUnordered {
			at = max(at, c.log[n-1])
		}
		for range min(cost, 10_000) {
			c.log = append(c.log, at)
		}
	default:
		c.tat += c.unit() * min(cost, math.MaxInt32)
	}
}

func (c *cell) giveBack(now, units int64) {
	switch c.limit.Algorithm {
	case core.FixedWindow:
		if c.used -= units; c.used < 0 && !c.givesBeyondFull {
			c.used = 0
		}
	case core.SlidingLog:
		n := int64(len(c.inside(now)))
		c.log = c.log[:int64(len(c.log))-min(units, n)]
	default:
		c.tat -= c.unit() * min(units, math.MaxInt32)
		if !c.givesBeyondFull {
			c.tat = max(c.tat, now)
		}
	}
}

func (c *cell) level(now int64) (remaining, reset int64) {
	switch c.limit.Algorithm {
	case core.FixedWindow:
		if c.used > 0 {
			reset = c.start + c.length() - now
		}
		return max(int64(c.limit.Count)-c.used, 0), reset
	case core.SlidingLog:
		log := c.inside(now)
		if len(log) > 0 {
			reset = c.leaves(log[len(log)-1]) - now
			if c.resetOldest {
				reset = c.leaves(log[0]) - now
			}
		}
		return max(int64(c.limit.Count)-int64(len(log)), 0), reset
	default:
		return max(c.tau()-(c.tat-now), 0) / c.unit(), c.tat - now
	}
}

func duration(us int64) time.Duration {
	return time.Duration(min(us, math.MaxInt64/int64(time.Microsecond))) * time.Microsecond
}
