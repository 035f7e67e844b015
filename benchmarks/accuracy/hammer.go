package accuracy

import (
	"sync"
	"time"

	"github.com/tierlimit/tierlimit/benchmarks/rival"
)

// span is when an admitted check was asked for and when it was answered. In
// between it was judged.
type span struct{ asked, answered time.Duration }

// hammer has many goroutines ask for one key without a rest over the edges of
// two windows, in real time, and tells the most that was admitted within one
// window's length.
func hammer(c rival.Contender, window time.Duration) int {
	check, stop := c.Open(rival.Limit{Count: limit, Window: window})
	defer stop()
	began := time.Now()
	var mu sync.Mutex
	var admitted []span
	var asking sync.WaitGroup
	for range workers {
		asking.Go(func() {
			for asked := time.Since(began); asked < window*5/2; asked = time.Since(began) {
				if ok, _ := check("ana"); ok {
					s := span{asked, time.Since(began)}
					mu.Lock()
					admitted = append(admitted, s)
					mu.Unlock()
				}
			}
		})
	}
	asking.Wait()
	return most(admitted, window)
}

// most is how many spans lie within one window's length, at the most. A
// microsecond less, because that is the smallest time that some reckon with.
func most(spans []span, window time.Duration) int {
	found := 0
	window -= time.Microsecond
	for _, first := range spans {
		within := 0
		for _, s := range spans {
			if s.asked >= first.asked && s.answered <= first.asked+window {
				within++
			}
		}
		found = max(found, within)
	}
	return found
}
