package growth

import (
	"time"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/memstore"
)

// logs is a check of a sliding log that is full: one that is admitted, because
// the oldest unit has just left, and one that is refused.
func logs(o duel.Options) (admitted, refused curve) {
	of := sizes(o, 1, 5)
	var bytes []float64
	var admit, refuse []func(n int)
	for _, size := range of {
		count := max(1, 100_000/size)
		before := heap()
		full := fill(size, count)
		bytes = append(bytes, (heap()-before)/float64(count))
		admit = append(admit, full.admit())
		refuse = append(refuse, fill(size, 1).refuse())
	}
	return race(o, of, bytes, admit), race(o, of, bytes, refuse)
}

// clock is moved by hand, by one goroutine.
type clock struct{ at time.Time }

func (c *clock) Now() time.Time { return c.at }

// fullLogs is a store whose logs hold all that they may. Their units are
// equally far apart, and the oldest leave now.
type fullLogs struct {
	store  core.Store
	limits []core.Limit
	apart  time.Duration
	now    *clock
}

func fill(size, count int) fullLogs {
	f := fullLogs{
		limits: core.PerHour(size).Using(core.SlidingLog).Limits(),
		apart:  time.Hour / time.Duration(size),
		now:    &clock{time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)},
	}
	f.store = memstore.New(memstore.WithClock(f.now))
	for range size {
		for k := range count {
			charge(f.store, account(k), f.limits)
		}
		f.now.at = f.now.at.Add(f.apart)
	}
	return f
}

// admit asks each time that the oldest unit has just left.
func (f fullLogs) admit() func(n int) {
	ask := asking(f.store, []string{account(0)}, f.limits)
	return func(n int) {
		for range n {
			ask(1)
			f.now.at = f.now.at.Add(f.apart)
		}
	}
}

// refuse asks just before the oldest unit leaves.
func (f fullLogs) refuse() func(n int) {
	f.now.at = f.now.at.Add(-time.Microsecond)
	return asking(f.store, []string{account(0)}, f.limits)
}
