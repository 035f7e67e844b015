package core

// account is one limit of a request, judged at one moment: the algorithm that
// the limit names, and the window it is saved in.
type account struct {
	algorithm Algorithm
	now       int64
	length    int64
	window    *window // nil while the state is fresh
	twin      int     // 1 + the index of an earlier account of the same window, which has it; 0: none
	gcra      gcra
	fixed     fixedWindow
	log       slidingLog
}

func (a *account) open(l Limit, now int64, w *window) {
	a.algorithm, a.now, a.length, a.window = l.Algorithm, now, l.micros(), w
	switch a.algorithm {
	case FixedWindow:
		a.fixed = openFixedWindow(l, now, w)
	case SlidingLog:
		a.log = openSlidingLog(l, now, w)
	default:
		a.gcra = openGCRA(l, now, w)
	}
}

// bind makes the window ready to be written.
func (a *account) bind() {
	a.window.algorithm, a.window.length = a.algorithm, a.length
	if a.algorithm == SlidingLog && a.log.log == nil {
		if a.window.log == nil {
			a.window.log = &unitLog{}
		}
		a.log.log = a.window.log
	}
}

func (a *account) mended() bool {
	switch a.algorithm {
	case FixedWindow:
		return a.fixed.mended
	case SlidingLog:
		return a.log.mended
	default:
		return a.gcra.mended
	}
}

// wait is how many microseconds until cost fits; 0 when it does.
func (a *account) wait(cost int64) int64 {
	switch a.algorithm {
	case FixedWindow:
		return a.fixed.wait(cost)
	case SlidingLog:
		return a.log.wait(cost)
	default:
		return a.gcra.wait(cost)
	}
}

// charge takes cost, which fits.
func (a *account) charge(cost int64) {
	switch a.algorithm {
	case FixedWindow:
		a.fixed.charge(cost)
	case SlidingLog:
		a.log.charge(cost)
	default:
		a.gcra.charge(cost)
	}
}

// force takes what fits of cost and tells how much that was.
func (a *account) force(cost int64) int64 {
	switch a.algorithm {
	case FixedWindow:
		return a.fixed.force(cost)
	case SlidingLog:
		return a.log.force(cost)
	default:
		return a.gcra.force(cost)
	}
}

// giveBack returns units, never beyond full.
func (a *account) giveBack(units int64) {
	switch a.algorithm {
	case FixedWindow:
		a.fixed.giveBack(units)
	case SlidingLog:
		a.log.giveBack(units)
	default:
		a.gcra.giveBack(units)
	}
}

// level is how many units are left and how long until all are.
func (a *account) level() (remaining, reset int64) {
	switch a.algorithm {
	case FixedWindow:
		return a.fixed.level()
	case SlidingLog:
		return a.log.level()
	default:
		return a.gcra.level()
	}
}

// save writes what the moment left into the window.
func (a *account) save() {
	switch a.algorithm {
	case FixedWindow:
		a.fixed.save(a.window)
	case SlidingLog:
		a.log.settle()
	default:
		a.gcra.save(a.window)
	}
}
