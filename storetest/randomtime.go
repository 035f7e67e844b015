package storetest

import "time"

// move moves the clock by a random amount: mostly forward, often to the very
// moment that a refusal named or just before it, and at times backwards.
func (w *walk) move() {
	window := w.lastSet[w.rng.IntN(len(w.lastSet))].Window
	switch n := w.rng.IntN(40); {
	case n < 14: // the same moment
	case n < 19:
		w.forward(w.upTo(ms))
	case n < 25:
		w.forward(w.upTo(window / 10))
	case n < 28:
		w.forward(w.upTo(window))
	case n < 29:
		w.forward(w.upTo(4 * window))
	case n < 32:
		w.forward(w.told)
	case n < 34:
		w.forward(w.told - us)
	case n < 36:
		w.backward(w.upTo(sec))
	case n < 37:
		w.backward(sec)
	case n < 38:
		w.backward(sec + us)
	default:
		w.backward(w.upTo(2 * window))
	}
}

// upTo is 1 µs to d.
func (w *walk) upTo(d time.Duration) time.Duration {
	return time.Duration(1+w.rng.Int64N(max(int64(d/us), 1))) * us
}

func (w *walk) forward(d time.Duration) {
	w.clock.Advance(max(d, 0))
	w.told = 0
	now := w.clock.Now()
	for _, k := range w.keys {
		for _, b := range k.buckets {
			b.lapse(now)
		}
	}
}

// backward sets the clock back. A store may have forgotten what had run out by
// then; the keys for which that would show are given up, and their like goes
// on under new ones.
func (w *walk) backward(d time.Duration) {
	w.clock.Advance(-d)
	now := w.clock.Now()
	for _, k := range w.keys {
		for _, b := range k.buckets {
			if b.lapsed.After(now) {
				k.giveUp()
				break
			}
		}
	}
	if len(w.lastKey.bucket(w.lastSet).ends) > 0 {
		w.back++
	}
}
