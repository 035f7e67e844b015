package redisstore

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/redis/rueidis"
)

// rider is a charge that waits for the call before it.
type rider struct {
	cost   int64
	values context.Context //nolint:containedctx // of the request, so that a trace goes on
	ahead  *rider
	state  atomic.Uint32
	answer chan answer
}

type answer struct {
	debt int64
	err  error
}

// What a rider is at. One that has left while it waited has charged nothing.
const (
	waits uint32 = iota
	aboard
	holds // aboard, and the call has its place in flight
	left
)

var riders = sync.Pool{New: func() any { return &rider{answer: make(chan answer, 1)} }}

// enqueue joins those that wait; nil when nothing is under way any more.
func (l *lane) enqueue(values context.Context, cost int64) *rider {
	r, _ := riders.Get().(*rider)
	r.cost, r.values = cost, values
	r.state.Store(waits)
	for {
		last := l.queue.Load()
		if last == gone {
			r.free()
			return nil
		}
		r.ahead = last
		if l.queue.CompareAndSwap(last, r) {
			return r
		}
	}
}

func (r *rider) free() {
	r.values, r.ahead = nil, nil
	riders.Put(r)
}

// board takes all that wait, first come first.
func (l *lane) board() []*rider {
	var all []*rider
	for r := l.queue.Swap(nil); r != nil; r = r.ahead {
		if r.state.CompareAndSwap(waits, aboard) {
			all = append(all, r)
		}
	}
	slices.Reverse(all)
	return all
}

// ride waits for the answer to r. Where the call before it takes long, it goes
// alone: a call each way must fit into one check's time.
func (s *Store) ride(deadline context.Context, behind *lane, r *rider, p pass, client rueidis.Client) (int64, error) {
	select {
	case a := <-r.answer:
		return r.done(a, p)
	case <-s.guard.patience.shared().Done():
	}
	if r.state.CompareAndSwap(waits, left) {
		s.lanes.noteSlow()
		c := &call{Context: deadline, values: r.values, key: behind.key}
		return c.alone(p, client, s.withNow(behind.set.charge(r.cost)))
	}
	select {
	case a := <-r.answer:
		return r.done(a, p)
	case <-deadline.Done():
		// The call itself has not had its time, so this tells nothing of Redis.
		if r.state.Swap(left) != holds {
			s.guard.inFlight.Add(-1)
		}
		p.breaker.leave(p.ticket, false, false)
		return 0, classify(deadline.Err())
	}
}

// done leaves with an answer.
func (r *rider) done(a answer, p pass) (int64, error) {
	if r.state.Swap(left) != holds {
		p.guard.inFlight.Add(-1)
	}
	r.free()
	return a.debt, p.note(a.err, false)
}

// alone charges in what is left of a check's time, so that a timeout tells
// nothing of Redis.
func (c *call) alone(p pass, client rueidis.Client, args []string) (debt int64, err error) {
	err = errPanicked
	defer func() { err = p.leave(err, true) }()
	debt, err = c.integer(gcraScript, client, args)
	return debt, err
}
