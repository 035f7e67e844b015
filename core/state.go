package core

import (
	"math"
	"time"
)

// State is one bucket: what one caller spent under one set of limits. The zero
// State is fresh. It is not safe for concurrent use, and must not be copied
// once it was written to.
//
// Which windows it holds is decided by algorithm and window length alone, so
// the order of the limits does not matter and a changed count keeps what was
// spent. A lone GCRA window is the bucket's tat whatever its length.
type State struct {
	windows []window
	expires int64 // µs since 1970; meaningful while windows is not nil
}

// window is the state of one limit.
type window struct {
	algorithm Algorithm
	length    int64    // µs
	at        int64    // GCRA: the tat; FixedWindow: the start
	used      int64    // FixedWindow: units spent
	log       *unitLog // SlidingLog: when they were spent
}

// Expires is when s is as good as fresh: a store may forget it from then on.
// It is the zero time for a fresh State. 10 a minute, 3 spent: 18 s from now.
func (s *State) Expires() time.Time {
	if s.windows == nil {
		return time.Time{}
	}
	return time.UnixMicro(s.expires)
}

// Apply does r to s at now: the reference that every [Store] must equal. It is
// pure arithmetic in whole microseconds, never wraps and never panics, also
// for limits that [New] would refuse and for a clock that stepped back. Only
// Limits, Cost and Mode of r matter, and of the limits the first [MaxLimits].
// Result.Now is now.
func Apply(s *State, now time.Time, r Request) Result {
	limits := r.Limits[:min(len(r.Limits), MaxLimits)]
	at := min(max(now.UnixMicro(), -farAway), farAway)
	cost := int64(r.Cost)

	var accounts [MaxLimits]account
	res := Result{Allowed: true, Now: now}
	mended := false
	for i, l := range limits {
		a := &accounts[i]
		a.open(l, at, s.find(l, len(limits)))
		a.twin = 1 + twinOf(accounts[:i], l)
		mended = mended || a.mended()
		if r.Mode == Force {
			continue
		}
		if wait := a.wait(cost); wait > 0 {
			res.Allowed = false
			res.Levels[i].RetryAfter = micros64(wait)
		}
	}

	switch {
	case r.Mode == Look, r.Mode == Charge && cost <= 0:
	case r.Mode == Force:
		res.Charged = s.force(accounts[:len(limits)], cost)
	case res.Allowed:
		res.Charged = r.Cost
		s.adopt(accounts[:len(limits)])
		for i := range limits {
			if accounts[i].twin == 0 {
				accounts[i].charge(cost)
			}
		}
		s.save(accounts[:len(limits)])
	case mended:
		// A refusal writes the mend, or whoever waits as told is refused again.
		s.mend(accounts[:len(limits)])
	}

	for i, l := range limits {
		if twin := accounts[i].twin; twin != 0 {
			accounts[i].open(l, at, accounts[twin-1].window)
		}
		remaining, reset := accounts[i].level()
		res.Levels[i].Remaining = clampInt(remaining)
		res.Levels[i].ResetAfter = micros64(reset)
	}
	return res
}

// force takes what fits, or gives back, and returns what every window took.
func (s *State) force(accounts []account, cost int64) int {
	if s.windows == nil && cost <= 0 {
		return clampInt(cost) // nothing to give back
	}
	s.adopt(accounts)
	taken := cost
	for i := range accounts {
		if accounts[i].twin != 0 {
			continue
		}
		if cost >= 0 {
			taken = min(taken, accounts[i].force(cost))
		} else {
			accounts[i].giveBack(-max(cost, -math.MaxInt64))
		}
	}
	s.save(accounts)
	return clampInt(taken)
}

// twinOf finds the account of the same window. [New] refuses a window that is
// there twice; whoever asks a store for one all the same has it charged once.
func twinOf(accounts []account, l Limit) int {
	for i := range accounts {
		if accounts[i].algorithm == l.Algorithm && accounts[i].length == l.micros() {
			return i
		}
	}
	return -1
}

// find returns the window that l counts in; nil while it is fresh.
func (s *State) find(l Limit, limits int) *window {
	for i := range s.windows {
		w := &s.windows[i]
		if w.algorithm == l.Algorithm && (w.length == l.micros() || l.Algorithm == GCRA && limits == 1 && len(s.windows) == 1) {
			return w
		}
	}
	return nil
}

// adopt gives every account a window to be saved in.
func (s *State) adopt(accounts []account) {
	kept := len(s.windows) == len(accounts)
	for i := range accounts {
		kept = kept && accounts[i].window != nil
	}
	if !kept {
		fresh := make([]window, len(accounts))
		for i := range accounts {
			if accounts[i].window != nil {
				fresh[i] = *accounts[i].window
			}
			accounts[i].window = &fresh[i]
		}
		s.windows = fresh
	}
	for i := range accounts {
		accounts[i].bind()
	}
}

// mend writes the accounts that a clock set back has changed, and no other.
func (s *State) mend(accounts []account) {
	for i := range accounts {
		if accounts[i].mended() && accounts[i].twin == 0 {
			accounts[i].save()
		}
	}
	s.reckon(accounts)
}

// save writes every account into its window.
func (s *State) save(accounts []account) {
	for i := range accounts {
		if accounts[i].twin == 0 {
			accounts[i].save()
		}
	}
	s.reckon(accounts)
}

// reckon notes when the last of the windows has run out.
func (s *State) reckon(accounts []account) {
	s.expires = math.MinInt64
	for i := range accounts {
		if accounts[i].twin != 0 {
			continue
		}
		_, reset := accounts[i].level()
		s.expires = max(s.expires, accounts[i].now+reset)
		if accounts[i].algorithm == FixedWindow {
			// One that a clock's jitter put ahead is not as good as fresh before it begins.
			s.expires = max(s.expires, accounts[i].fixed.start)
		}
	}
}

// farAway bounds the moments that are told apart: 73,000 years around 1970.
const farAway = int64(1) << 61

// clampInt fits v into an int, which has 32 bits on some machines.
func clampInt(v int64) int {
	return int(min(max(v, math.MinInt), math.MaxInt))
}
