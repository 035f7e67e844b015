package accuracy

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/tierlimit/tierlimit/benchmarks/rival"
)

// limit is what a window admits, and workers how many ask at once.
const (
	limit   = 100
	workers = 64
)

// burst is what a fresh key admits of three times its limit.
func burst(c rival.Contender) int {
	o := open(c, rival.Limit{Count: limit, Window: 24 * time.Hour})
	defer o.stop()
	return o.admitted(3 * limit)
}

// edge is what is admitted within a fifth of a window, half of it before the
// end of the key's first window and half behind it.
func edge(c rival.Contender, window time.Duration) int {
	o := open(c, rival.Limit{Count: limit, Window: window})
	defer o.stop()
	o.admitted(1) // a window may begin with the first request
	o.until(window * 9 / 10)
	admitted := o.admitted(2 * limit)
	o.until(window * 11 / 10)
	return admitted + o.admitted(2*limit)
}

// crowd is what is admitted of one key, and how many checks fail, when many ask
// at once for three times the limit. The window is so long that nothing comes
// back meanwhile.
func crowd(c rival.Contender, limit int) (admitted, failed int) {
	o := open(c, rival.Limit{Count: limit, Window: 30 * 24 * time.Hour})
	defer o.stop()
	var yes, errs atomic.Int64
	var asking sync.WaitGroup
	for range workers {
		asking.Go(func() {
			for range 3 * limit / workers {
				switch ok, err := o.check("ana"); {
				case err != nil:
					errs.Add(1)
				case ok:
					yes.Add(1)
				}
			}
		})
	}
	asking.Wait()
	return int(yes.Load()), int(errs.Load())
}
