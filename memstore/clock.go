package memstore

import (
	"sync/atomic"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// timekeeper reads a clock once a check: what the check is judged by, and what
// is shown of it. Of this machine it judges by the monotonic clock and shows
// the wall clock as it is now, read anew at most ten times a second because
// that is half the cost of a check.
type timekeeper struct {
	clock core.Clock // nil: this machine's
	base  time.Time  // monotonic readings count from here
	start int64      // base in µs since 1970
	wall  atomic.Pointer[wallReading]
}

// wallReading is the wall clock at a moment of the monotonic one.
type wallReading struct {
	time    time.Time
	elapsed time.Duration // since base
}

const wallEvery = 100 * time.Millisecond

func (k *timekeeper) begin() {
	k.base = time.Now()
	k.start = k.base.UnixMicro()
	k.wall.Store(&wallReading{time: k.base})
}

// now returns the moment to judge by, in µs since 1970, and the time to show.
func (k *timekeeper) now() (int64, time.Time) {
	if k.clock != nil {
		t := k.clock.Now()
		return t.UnixMicro(), t
	}
	elapsed := time.Since(k.base)
	w := k.wall.Load()
	if elapsed-w.elapsed >= wallEvery {
		t := time.Now()
		w = &wallReading{time: t, elapsed: t.Sub(k.base)}
		k.wall.Store(w)
		elapsed = w.elapsed
	}
	return k.start + int64(elapsed/time.Microsecond), w.time.Add(elapsed - w.elapsed)
}
