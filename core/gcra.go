package core

// gcra is one GCRA window as it stands at one moment. All times are in
// microseconds since 1970. tat, the theoretical arrival time, is when the
// bucket is full again; a stored tat in the past means now.
type gcra struct {
	now    int64
	tat    int64
	step   int64 // T: one unit in time
	tau    int64 // T × burst
	mended bool
}

func openGCRA(l Limit, now int64, w *window) gcra {
	g := gcra{now: now, tat: now, step: l.emission(), tau: l.tolerance()}
	if w != nil {
		g.tat = max(w.at, now)
	}
	// The clock was set back, or the quota shrank: what stands beyond an empty
	// bucket would lock the caller out for longer than any refusal says.
	if g.tat > now+g.tau+jitter {
		g.tat = now + g.tau
		g.mended = true
	}
	return g
}

// wait is how long until cost fits; 0 when it does.
func (g *gcra) wait(cost int64) int64 {
	if cost <= 0 {
		return 0
	}
	if cost > maxDebt/g.step {
		return maxDebt
	}
	return max(g.tat+g.step*cost-g.tau-g.now, 0)
}

// charge takes cost, which fits.
func (g *gcra) charge(cost int64) { g.tat += g.step * cost }

// force takes what fits of cost and tells how many whole units that was.
func (g *gcra) force(cost int64) int64 {
	room := g.now + g.tau - g.tat
	if room <= 0 {
		return 0
	}
	if fit := room / g.step; cost > fit {
		g.tat = g.now + g.tau
		return fit
	}
	g.tat += g.step * cost
	return cost
}

// giveBack returns units, never beyond full.
func (g *gcra) giveBack(units int64) {
	if units > (g.tat-g.now)/g.step {
		g.tat = g.now
		return
	}
	g.tat -= g.step * units
}

func (g *gcra) level() (remaining, reset int64) {
	return max(g.tau-(g.tat-g.now), 0) / g.step, g.tat - g.now
}

func (g *gcra) save(w *window) { w.at = g.tat }
