package core

import (
	"math"
	"time"
)

// TokenBucket grants the same as a token bucket: capacity units at once, and
// refillPerSecond come back every second. It is Per(n, w).WithBurst(capacity)
// with the smallest whole n and whole seconds w that give the rate: 0.5 is 1
// per 2 s, 2.5 is 5 per 2 s; a rate that no such ratio gives is met to nine
// digits. NaN, infinities and rates of 0 or less are faults.
func TokenBucket(capacity int, refillPerSecond float64) Quota {
	if math.IsNaN(refillPerSecond) || math.IsInf(refillPerSecond, 0) || refillPerSecond <= 0 {
		return Quota{kind: quotaLimited}.fault("refill of %v a second, must be greater than 0 and finite", refillPerSecond)
	}
	n, seconds, ok := fraction(refillPerSecond)
	if !ok {
		return Quota{kind: quotaLimited}.fault("refill of %v a second is out of range", refillPerSecond)
	}
	return Per(n, time.Duration(seconds)*time.Second).WithBurst(capacity)
}

// fraction is the ratio of the smallest whole numbers that gives rate. It walks
// the continued fraction of rate; the last partial quotient is then lowered as
// far as the ratio stays the same, because a smaller one may do as well.
func fraction(rate float64) (n int, seconds int64, ok bool) {
	const most = float64(maxDebt / int64(time.Second/time.Microsecond)) // seconds in the longest window
	var (
		n0, n1 = 0.0, 1.0
		d0, d1 = 1.0, 0.0
		rest   = rate
	)
	for range 64 {
		whole := math.Floor(rest)
		if n1*whole+n0 > float64(maxCount) || n1*whole+n0 > math.MaxInt || d1*whole+d0 > most {
			// No ratio in range gives it to the last bit; the last one that was may
			// be as near as makes no difference.
			near := d1 > 0 && math.Abs(n1/d1-rate) <= rate*1e-9
			return int(n1), int64(d1), near
		}
		if (n1*whole+n0)/(d1*whole+d0) == rate {
			for low := int64(1); low < int64(whole); {
				middle := low + (int64(whole)-low)/2
				if w := float64(middle); (n1*w+n0)/(d1*w+d0) == rate {
					whole = w
				} else {
					low = middle + 1
				}
			}
			return int(n1*whole + n0), int64(d1*whole + d0), true
		}
		n0, n1 = n1, n1*whole+n0
		d0, d1 = d1, d1*whole+d0
		rest = 1 / (rest - whole)
	}
	return 0, 0, false
}
