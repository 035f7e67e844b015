package accuracy

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tierlimit/tierlimit/benchmarks/rival"
)

// swept is what was admitted while keys ran out.
type swept struct {
	expired int  // admissions of keys that had run out, one of which is due to each
	live    int  // admissions of keys that were at their limit
	late    bool // the machine was so slow that keys came due a second time
}

// sweep lets a store's keys run out, all of them, and then has two goroutines
// ask for each of them while the store drops them. Between them they ask for
// keys that are at their limit and must stay so.
func sweep(c rival.Contender, keys int, window time.Duration) swept {
	o := open(c, rival.Limit{Count: 1, Window: window, Keep: window})
	defer o.stop()
	names := make([]string, keys)
	for i := range names {
		names[i] = "account-" + strconv.Itoa(i)
		_, _ = o.check(names[i])
	}
	o.until(2*window + window/50) // two, because httprate counts a window into the next
	live := names[:min(keys, 1000)]
	for i := range live {
		live[i] = "live-" + strconv.Itoa(i)
		_, _ = o.check(live[i])
	}
	names = names[len(live):]
	began := time.Now()
	var expired, again atomic.Int64
	var asking sync.WaitGroup
	for w := range 2 {
		asking.Go(func() {
			for i := range names {
				if ok, _ := o.check(names[(i+w*len(names)/2)%len(names)]); ok {
					expired.Add(1)
				}
				if i%100 == 0 {
					if ok, _ := o.check(live[i/100%len(live)]); ok {
						again.Add(1)
					}
				}
			}
		})
	}
	asking.Wait()
	return swept{
		expired: int(expired.Load()) - len(names),
		live:    int(again.Load()),
		late:    !o.moved && time.Since(began) > window*9/10,
	}
}
