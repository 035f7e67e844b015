package accuracy

import (
	"sync"
	"time"

	"github.com/tierlimit/tierlimit/benchmarks/rival"
)

// contenders are the store by each algorithm, and the rivals, of which httprate
// as it is used, with both its readings of the clock.
func contenders() []rival.Contender {
	all := rival.Algorithms()
	for _, c := range rival.Rivals() {
		if c.Hashed {
			c = rival.HTTPRate()
		}
		all = append(all, c)
	}
	return all
}

// opened is a contender at work, and the time that it lives in.
type opened struct {
	check rival.Check
	stop  func()

	mu    sync.Mutex
	now   time.Time
	began time.Time
	moved bool // by hand
}

func open(c rival.Contender, l rival.Limit) *opened {
	o := &opened{moved: c.Clock, began: time.Now()}
	if c.Clock {
		o.began = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		o.now = o.began
		l.Now = o.time
	}
	o.check, o.stop = c.Open(l)
	return o
}

func (o *opened) time() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.now
}

// until waits until d after the beginning, or moves the clock there.
func (o *opened) until(d time.Duration) {
	if !o.moved {
		time.Sleep(time.Until(o.began.Add(d)))
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now = o.began.Add(d)
}

// admitted is how many of n checks of one key are.
func (o *opened) admitted(n int) int {
	admitted := 0
	for range n {
		if ok, _ := o.check("ana"); ok {
			admitted++
		}
	}
	return admitted
}
