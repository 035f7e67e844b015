package core

import (
	"math"
	"slices"
	"time"
)

// MaxLimits is how many windows one [Quota] may hold.
const MaxLimits = 4

// All arithmetic is in whole microseconds held in an int64. Two bounds keep it
// from wrapping, here and in stores that count in 64-bit floats: no debt is
// longer than maxDebt, and no stored integer reaches 2^53.
const (
	maxDebt  = int64(1) << 52
	maxCount = int64(1)<<53 - 1
	// jitter is how far a clock may step back before state is mended: 1 s.
	jitter = int64(time.Second / time.Microsecond)
)

// Limit is one window of a [Quota]: Count units every Window. Two limits with
// the same Algorithm and Window are the same window, whatever their counts: a
// bucket keeps what was spent in it when the count changes. The zero Limit
// admits nothing.
type Limit struct {
	Algorithm Algorithm
	Count     int           // units a window, at least 1 and below 2^53; 10
	Window    time.Duration // whole microseconds; time.Minute
	Burst     int           // units at once, at least 1: 10; the same as Count for FixedWindow and SlidingLog
}

// Emission is T of a [GCRA] window: how long one unit takes to come back, in
// whole microseconds and rounded up, so that no store is looser than the plan.
// 10 a minute: 6 s. It is for stores.
func (l Limit) Emission() time.Duration { return micros64(l.emission()) }

// Tolerance is T × Burst of a [GCRA] window, what a full bucket holds in time:
// 60 s for 10 a minute. It is for stores.
func (l Limit) Tolerance() time.Duration { return micros64(l.tolerance()) }

// micros is the window in microseconds, rounded up, at least 1.
func (l Limit) micros() int64 {
	w := int64(l.Window)
	if w <= 0 {
		return 1
	}
	return (w-1)/int64(time.Microsecond) + 1
}

// emission is T: how many microseconds one unit takes to come back, rounded up
// so that a store is never looser than the plan.
func (l Limit) emission() int64 {
	return (l.micros()-1)/max(int64(l.Count), 1) + 1
}

// capacity is how many units a full bucket holds.
func (l Limit) capacity() int64 {
	if l.Algorithm == GCRA {
		return max(int64(l.Burst), 0)
	}
	return max(int64(l.Count), 0)
}

// tolerance is tau = T × burst, what a full bucket holds in time.
func (l Limit) tolerance() int64 {
	step, capacity := l.emission(), l.capacity()
	if capacity > maxDebt/step {
		return maxDebt
	}
	return step * capacity
}

// same tells whether both count in the same window of one bucket.
func (l Limit) same(o Limit) bool {
	return l.Algorithm == o.Algorithm && l.micros() == o.micros()
}

// equalLimits tells whether a and b hold the same limits in whatever order.
// Neither holds one window twice.
func equalLimits(a, b []Limit) bool {
	if len(a) != len(b) {
		return false
	}
	for _, l := range a {
		if !slices.Contains(b, l) {
			return false
		}
	}
	return true
}

// tightest is the limit with the smallest capacity: the one that a cost no
// bucket could ever hold runs into first.
func tightest(limits []Limit) Limit {
	t := limits[0]
	for _, l := range limits[1:] {
		if l.capacity() < t.capacity() {
			t = l
		}
	}
	return t
}

// shortest is the smallest window of limits.
func shortest(limits []Limit) time.Duration {
	d := time.Duration(math.MaxInt64)
	for _, l := range limits {
		d = min(d, l.Window)
	}
	return d
}

// micros64 turns microseconds into a Duration, saturating at 292 years.
func micros64(us int64) time.Duration {
	if us > math.MaxInt64/int64(time.Microsecond) {
		return math.MaxInt64
	}
	return time.Duration(us) * time.Microsecond
}
