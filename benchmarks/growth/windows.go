package growth

import (
	"github.com/tierlimit/tierlimit/benchmarks/duel"
	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/memstore"
)

// windows is a check of a hot key under plans of one window to four, none of
// which refuses.
func windows(o duel.Options) curve {
	count := 100_000
	if o.Quick {
		count = 1000
	}
	const many = 1 << 30
	minute := endless(core.PerMinute(1))
	second := minute.And(endless(core.PerSecond(1)))
	hour := second.And(core.PerHour(many).Using(core.FixedWindow))
	day := hour.And(core.PerDay(many).Using(core.FixedWindow))
	var of []int
	var bytes []float64
	var runs []func(n int)
	for i, quota := range []core.Quota{minute, second, hour, day} {
		limits := quota.Limits()
		before := heap()
		s := memstore.New()
		for k := range count {
			charge(s, account(k), limits)
		}
		of = append(of, i+1)
		bytes = append(bytes, (heap()-before)/float64(count))
		runs = append(runs, asking(s, []string{account(0)}, limits))
	}
	return race(o, of, bytes, runs)
}
