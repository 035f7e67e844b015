package redisstore

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
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

// A rider waits until it is aboard, or has left, which then charged nothing.
const (
	waits uint32 = iota
	aboard
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

// wait returns the answer, or the error of deadline when that comes first.
func (r *rider) wait(deadline context.Context) (int64, error) {
	select {
	case a := <-r.answer:
		r.free()
		return a.debt, a.err
	case <-deadline.Done():
		r.state.CompareAndSwap(waits, left)
		return 0, deadline.Err() //nolint:wrapcheck // classify does
	}
}
