package core

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Quota is what a plan grants: one to [MaxLimits] windows that must all agree,
// or [Unlimited], or [Blocked]. It is immutable and comparable; every method
// returns a changed copy. The zero Quota is a mistake that [New] reports, so
// that a forgotten limit never means no limit.
//
// The constructors do not fail: misuse (a count of 0, a burst on a fixed
// window) is carried in the value and reported by [New] and [Limiter.SetPlans]
// under the tier's name.
type Quota struct {
	kind   quotaKind
	shadow bool
	n      uint8
	limits [MaxLimits]Limit
	faults string // what is wrong with it, joined by "; "
}

type quotaKind uint8

const (
	quotaUnset quotaKind = iota
	quotaLimited
	quotaUnlimited
	quotaBlocked
)

// PerSecond grants n units a second, up to n at once.
func PerSecond(n int) Quota { return Per(n, time.Second) }

// PerMinute grants n units a minute, up to n at once: PerMinute(10) lets ten
// requests through at once and one more every 6 s.
func PerMinute(n int) Quota { return Per(n, time.Minute) }

// PerHour grants n units an hour, up to n at once.
func PerHour(n int) Quota { return Per(n, time.Hour) }

// PerDay grants n units every 24 hours, up to n at once.
func PerDay(n int) Quota { return Per(n, 24*time.Hour) }

// Per grants n units every window, up to n at once. n is 1 to 2^53 − 1; the
// window is kept in whole microseconds, rounded up. A rate that whole
// microseconds cannot hold to 1 % (600,000 a second) is a fault.
func Per(n int, window time.Duration) Quota {
	l := Limit{Algorithm: GCRA, Count: n, Window: window, Burst: n}
	if window > 0 {
		l.Window = micros64(l.micros())
	}
	q := Quota{kind: quotaLimited, n: 1, limits: [MaxLimits]Limit{l}}
	if window > 0 && (l.Window-window) > window/100 {
		q = q.fault("a window of %v is not a whole number of microseconds, write at least %v", window, l.Window)
	}
	return q
}

// Unlimited grants everything: the store is never asked, so such a plan works
// while it is down, and responses carry no rate headers.
func Unlimited() Quota { return Quota{kind: quotaUnlimited} }

// Blocked grants nothing: every request is refused with 403 and the store is
// never asked.
func Blocked() Quota { return Quota{kind: quotaBlocked} }

// WithBurst lets n units pass at once, 1 or more, where the default is the
// count: PerSecond(20).WithBurst(40) serves an idle caller 40 at once, then 20
// a second. It is for a single [GCRA] window; say it before [Quota.And].
func (q Quota) WithBurst(n int) Quota {
	switch {
	case q.kind != quotaLimited:
		return q.fault("WithBurst(%d) needs a window, such as PerMinute(10).WithBurst(%d)", n, n)
	case q.n > 1:
		return q.fault("WithBurst(%d) on several windows, call it before And", n)
	case q.limits[0].Algorithm != GCRA:
		return q.fault("WithBurst(%d) is for gcra only, not %v", n, q.limits[0].Algorithm)
	case n < 1:
		return q.fault("burst %d, must be at least 1", n)
	}
	q.limits[0].Burst = n
	return q
}

// Using counts every window of q by a. The default is [GCRA].
func (q Quota) Using(a Algorithm) Quota {
	if q.kind != quotaLimited {
		return q.fault("Using(%v) needs a window, such as PerDay(1000).Using(%v)", a, a)
	}
	if a > SlidingLog {
		return q.fault("unknown algorithm %v", a)
	}
	for i := range q.n {
		l := &q.limits[i]
		if a != GCRA && l.Burst != l.Count {
			return q.fault("burst %d is for gcra only, not %v", l.Burst, a)
		}
		l.Algorithm = a
	}
	return q.unique()
}

// And demands that other agrees as well: PerSecond(20).And(PerDay(50_000)).
// A request takes from all windows or from none. There may be [MaxLimits]
// windows, one for each pair of algorithm and window length.
func (q Quota) And(other Quota) Quota {
	if other.faults != "" {
		q = q.fault("%s", other.faults)
	}
	switch {
	case q.kind != quotaLimited || other.kind != quotaLimited:
		return q.fault("And joins windows, not %q and %q", q.String(), other.String())
	case q.shadow != other.shadow:
		return q.fault("Shadow is for the whole quota, call it after And")
	case q.n+other.n > MaxLimits:
		return q.fault("%d windows, at most %d", q.n+other.n, MaxLimits)
	}
	for _, l := range other.limits[:other.n] {
		q.limits[q.n] = l
		q.n++
	}
	return q.unique()
}

// Shadow judges, charges and reports q, but never refuses: try a limit before
// enforcing it. [Decision.Shadowed] tells what it would have done. Responses
// carry no rate headers.
func (q Quota) Shadow() Quota {
	q.shadow = true
	return q
}

// IsUnlimited tells whether q is [Unlimited].
func (q Quota) IsUnlimited() bool { return q.kind == quotaUnlimited }

// Limits returns a copy of the windows, in the order they were written; none
// for an unlimited, blocked or zero Quota.
func (q Quota) Limits() []Limit { return slices.Clone(q.limits[:q.n]) }

// Equal tells whether q and o grant the same. The order of their windows does
// not matter.
func (q Quota) Equal(o Quota) bool {
	return q.kind == o.kind && q.shadow == o.shadow && q.faults == o.faults &&
		equalLimits(q.limits[:q.n], o.limits[:o.n])
}

// fault notes what is wrong with q.
func (q Quota) fault(format string, args ...any) Quota {
	text := fmt.Sprintf(format, args...)
	if q.faults != "" {
		text = q.faults + "; " + text
	}
	q.faults = text
	return q
}

// unique faults a second window of the same algorithm and length.
func (q Quota) unique() Quota {
	for i := range q.n {
		for j := range i {
			if q.limits[i].same(q.limits[j]) {
				return q.fault("two %v windows of %s", q.limits[i].Algorithm, windowText(q.limits[i].Window))
			}
		}
	}
	return q
}

// check returns everything that is wrong with q, nil when it can be judged.
func (q Quota) check() error {
	if q.kind == quotaUnset {
		if q.faults != "" {
			return errors.New(q.faults)
		}
		return errors.New("no quota, write core.Unlimited() to mean no limit")
	}
	var faults []string
	if q.faults != "" {
		faults = append(faults, q.faults)
	}
	for _, l := range q.limits[:q.n] {
		if fault := l.fault(); fault != "" {
			faults = append(faults, fault)
		}
	}
	if faults == nil {
		return nil
	}
	return errors.New(strings.Join(faults, "; "))
}
