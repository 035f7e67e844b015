package fallbackstore

import (
	"math"
	"slices"
	"time"

	"github.com/puzpuzpuz/xsync/v4"

	"github.com/tierlimit/tierlimit/core"
)

// shares keeps the local part of each set of limits. Plans have few; whoever
// makes up new ones all the time is served without the cache.
type shares struct {
	share float64
	known *xsync.Map[[core.MaxLimits]core.Limit, []core.Limit]
}

const mostKnown = 4096

func (s *shares) init(share float64) {
	s.share = share
	s.known = xsync.NewMap[[core.MaxLimits]core.Limit, []core.Limit]()
}

// of is what limits grant locally.
func (s *shares) of(limits []core.Limit) []core.Limit {
	if s.share == 1 {
		return limits
	}
	var key [core.MaxLimits]core.Limit
	copy(key[:], limits)
	if known, ok := s.known.Load(key); ok && len(known) == len(limits) {
		return known
	}
	part := make([]core.Limit, len(limits))
	for i, l := range limits {
		part[i] = apart(part[:i], s.part(l))
	}
	if s.known.Size() < mostKnown {
		s.known.Store(key, part)
	}
	return part
}

// longest is how long a window and a debt may be, 142 years, with room for windows
// that differ.
const longest = time.Duration(1<<52-core.MaxLimits) * time.Microsecond

// part is the share of one window. Where less than one unit is left of its
// count, or whole microseconds do not hold the count that is left, it is one unit
// in another window: the same rate.
func (s *shares) part(l core.Limit) core.Limit {
	own := l
	own.Count, own.Burst = s.floor(l.Count), max(s.floor(l.Burst), 1)
	if own.Count < 1 || own.Algorithm == core.GCRA && !precise(own) {
		own.Count, own.Window = 1, s.stretch(l)
	}
	if own.Algorithm == core.GCRA {
		own.Burst = min(own.Burst, max(int(longest/own.Emission()), 1))
	} else {
		own.Burst = own.Count
	}
	return own
}

// precise tells whether whole microseconds hold a rate to 1 %, as core asks.
func precise(l core.Limit) bool {
	granted := int64(l.Emission()/time.Microsecond) * int64(l.Count)
	return granted-int64(l.Window/time.Microsecond) <= granted/100
}

// floor is the most that is not more than the share of n. It is found by
// division, where a float holds 1/49 exactly as the caller wrote it: 1/49 of 98
// is 2.
func (s *shares) floor(n int) int {
	m := int(float64(n) * s.share) // off by one at most
	if float64(m+1)/float64(n) <= s.share {
		m++
	} else if float64(m)/float64(n) > s.share {
		m--
	}
	return m
}

// stretch is the shortest window in which one unit is not more than the share of
// l, by division again. Beyond the longest, that is as long as it gets.
func (s *shares) stretch(l core.Limit) time.Duration {
	micros := math.Ceil(float64(l.Window) / float64(time.Microsecond))
	exceeds := func(window float64) bool { return micros/(window*float64(l.Count)) > s.share }
	window := math.Ceil(micros / (float64(l.Count) * s.share)) // off by one at most
	if exceeds(window) {
		window++
	} else if !exceeds(window - 1) {
		window--
	}
	return time.Duration(min(window, float64(longest/time.Microsecond))) * time.Microsecond
}

// apart makes l a window that others has not: one may have been stretched to the
// length of another. Of many units it becomes one, at the same rate, because a
// microsecond more would have each of them come back a microsecond later.
func apart(others []core.Limit, l core.Limit) core.Limit {
	for slices.ContainsFunc(others, func(o core.Limit) bool { return o.Algorithm == l.Algorithm && o.Window == l.Window }) {
		if l.Algorithm == core.GCRA && l.Count > 1 {
			l.Count, l.Window = 1, l.Emission()
		} else {
			l.Window += time.Microsecond
		}
	}
	return l
}

// holds tells whether a full bucket of each of limits holds cost.
func holds(limits []core.Limit, cost int) bool {
	return !slices.ContainsFunc(limits, func(l core.Limit) bool { return cost > l.Burst })
}
