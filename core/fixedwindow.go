package core

// fixedWindow is one fixed window as it stands at one moment. All times are in
// microseconds since 1970.
type fixedWindow struct {
	now    int64
	start  int64 // a multiple of length
	length int64
	count  int64
	used   int64
	mended bool
}

func openFixedWindow(l Limit, now int64, w *window) fixedWindow {
	f := fixedWindow{now: now, length: l.micros(), count: l.capacity()}
	f.start = floorTo(now, f.length)
	if w == nil || w.at < f.start {
		return f // what was spent in a window of the past is gone
	}
	f.used = w.used
	if now >= w.at-jitter {
		f.start = w.at // the current window, or one that a clock's jitter put just ahead
		return f
	}
	// The clock was set back: what was spent in the later window counts in this one.
	f.mended = true
	return f
}

func (f *fixedWindow) wait(cost int64) int64 {
	if cost <= 0 || cost <= f.count-f.used {
		return 0
	}
	return f.start + f.length - f.now
}

func (f *fixedWindow) charge(cost int64) { f.used += cost }

func (f *fixedWindow) force(cost int64) int64 {
	fit := min(cost, max(f.count-f.used, 0))
	f.used += fit
	return fit
}

func (f *fixedWindow) giveBack(units int64) { f.used = max(f.used-units, 0) }

func (f *fixedWindow) level() (remaining, reset int64) {
	if f.used > 0 {
		reset = f.start + f.length - f.now
	}
	return max(f.count-f.used, 0), reset
}

func (f *fixedWindow) save(w *window) { w.at, w.used = f.start, f.used }

// floorTo is the last multiple of unit that is not after t, also before 1970.
func floorTo(t, unit int64) int64 {
	r := t % unit
	if r < 0 {
		r += unit
	}
	return t - r
}
