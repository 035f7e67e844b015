package core

// slidingLog is one sliding log as it stands at one moment. Judging it costs a
// binary search, so neither time nor allocations grow linearly with the limit.
type slidingLog struct {
	now    int64
	length int64
	count  int64
	log    *unitLog
	first  int   // index of the oldest entry still inside the window
	total  int64 // units inside the window
	mended bool
}

func openSlidingLog(l Limit, now int64, w *window) slidingLog {
	s := slidingLog{now: now, length: l.micros(), count: l.capacity()}
	if w != nil {
		s.open(w.log)
	}
	return s
}

func (s *slidingLog) open(log *unitLog) {
	s.log = log
	if log == nil || log.n == 0 {
		return
	}
	s.first = log.after(s.now - s.length)
	s.total = log.last().end - log.before(s.first)
	s.mended = log.last().at > s.now+jitter
}

// leaves is how long until an entry made at t leaves the window. Under a mend
// an entry ahead of now counts as one of now.
func (s *slidingLog) leaves(t int64) int64 {
	if s.mended {
		t = min(t, s.now)
	}
	return t + s.length - s.now
}

func (s *slidingLog) wait(cost int64) int64 {
	if cost <= 0 || cost <= s.count-s.total {
		return 0
	}
	if cost > s.count || s.total == 0 {
		return s.length // more than the log ever holds
	}
	need := cost - (s.count - s.total) // the oldest units that have to leave
	i := s.log.reaching(s.log.before(s.first) + need)
	return s.leaves(s.log.at(i).at)
}

// settle writes the mend and drops what has left, so that the log holds just
// what is inside the window.
func (s *slidingLog) settle() {
	s.log.drop(s.first)
	s.first = 0
	if !s.mended {
		return
	}
	s.mended = false
	var ahead int64
	for s.log.n > 0 && s.log.last().at > s.now {
		ahead += s.log.pop()
	}
	s.log.push(s.now, ahead)
}

func (s *slidingLog) charge(cost int64) {
	s.settle()
	at := s.now
	if s.log.n > 0 {
		at = max(at, s.log.last().at) // never before one that is there
	}
	s.log.push(at, cost)
	s.total += cost
}

func (s *slidingLog) force(cost int64) int64 {
	s.settle()
	fit := min(cost, max(s.count-s.total, 0))
	if fit > 0 {
		s.charge(fit)
	}
	return fit
}

func (s *slidingLog) giveBack(units int64) {
	s.settle()
	units = min(units, s.total)
	s.log.shrink(units)
	s.total -= units
}

func (s *slidingLog) level() (remaining, reset int64) {
	if s.total > 0 {
		reset = s.leaves(s.log.last().at)
	}
	return max(s.count-s.total, 0), reset
}
