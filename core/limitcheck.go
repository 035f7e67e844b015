package core

import "fmt"

// fault tells what is wrong with l, and what would be right; "" when nothing is.
func (l Limit) fault() string {
	count, window := int64(l.Count), l.micros()
	switch {
	case l.Count < 1:
		return fmt.Sprintf("quota count is %d, must be greater than 0 (core.Blocked() refuses everything)", l.Count)
	case l.Window <= 0:
		return fmt.Sprintf("window is %v, must be greater than 0", l.Window)
	case count > maxCount:
		return fmt.Sprintf("count %d, at most %d", count, maxCount)
	case l.Burst < 1:
		return fmt.Sprintf("burst %d, must be at least 1", l.Burst)
	case window > maxDebt:
		return fmt.Sprintf("a window of %v, at most %v", l.Window, micros64(maxDebt))
	}
	if l.Algorithm != GCRA {
		return ""
	}
	step := l.emission()
	if !precise(step, count, window) {
		return l.rateFault(step, window)
	}
	if int64(l.Burst) > maxDebt/step {
		return fmt.Sprintf("burst %d takes longer than %v to come back, at most %d at this rate", l.Burst, micros64(maxDebt), maxDebt/step)
	}
	return ""
}

// precise tells whether T keeps the rate to 1 %: what it really gives is
// window/(T·count) of what was asked for.
func precise(step, count, window int64) bool {
	granted := step * count
	return granted-window <= granted/100
}

// rateFault names the nearest rates that whole microseconds can hold. Both
// searches end: one unit a window and one a microsecond are always precise.
func (l Limit) rateFault(step, window int64) string {
	per := windowText(l.Window)
	rate := func(step int64) int64 { return (window-1)/step + 1 }
	if step == 1 {
		return fmt.Sprintf("%d/%s is faster than one a microsecond, at most %d/%s", l.Count, per, rate(1), per)
	}
	below, above := step, step-1
	for !precise(below, rate(below), window) {
		below++
	}
	for !precise(above, rate(above), window) {
		above--
	}
	slower, faster := rate(below), rate(above)
	return fmt.Sprintf("%d/%s cannot be kept to 1 %% in whole microseconds, the nearest are %d/%s and %d/%s", l.Count, per, slower, per, faster, per)
}
