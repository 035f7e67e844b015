package redisstore

import (
	"context"
	"hash/maphash"
	"strconv"
	"sync/atomic"

	"github.com/redis/rueidis"
)

// lane is the way to Redis of the charges of one bucket. The first goes at
// once and alone. Those that come while it is under way ride together in one
// call after it, and those that come during that one in the next: however many
// ask for one bucket, one call is under way.
type lane struct {
	call // of the first

	set   *set
	queue atomic.Pointer[rider] // the last that came; nil: none waits
}

// gone is the queue of a lane that nothing is under way on any more.
var gone = &rider{}

// lanes are the buckets with a charge under way, by a hash of their key. Of two
// that meet in one place the second has no lane, and its charges go alone.
type lanes struct {
	seed   maphash.Seed
	places [1024]atomic.Pointer[lane]
}

func (l *lanes) place(key string) *atomic.Pointer[lane] {
	return &l.places[maphash.String(l.seed, key)%uint64(len(l.places))]
}

// chargeLone charges a lone GCRA window and returns the reply of gcra.lua.
func (s *Store) chargeLone(ctx context.Context, set *set, key string, cost int64) (int64, error) {
	conn, p, err := s.enter(ctx, key)
	if err != nil {
		return 0, err
	}
	deadline := s.guard.shared()
	if s.guard.inHurry(ctx) {
		c := &call{Context: deadline, values: ctx, key: [1]string{key}}
		return hurry(ctx, p, func() (int64, error) { return c.integer(gcraScript, conn.client, s.withNow(set.charge(cost))) })
	}
	place := s.lanes.place(key)
	ahead := place.Load()
	if ahead != nil && ahead.set == set && ahead.key[0] == key {
		if r := ahead.enqueue(ctx, cost); r != nil {
			debt, err := r.wait(deadline)
			return debt, p.leave(err, false)
		}
	}
	own := &lane{call: call{Context: deadline, values: ctx, key: [1]string{key}}, set: set}
	if ahead == nil || ahead.queue.Load() == gone {
		if place.CompareAndSwap(ahead, own) {
			defer s.arrive(place, own, conn.client)
		}
	}
	debt, err := own.integer(gcraScript, conn.client, s.withNow(set.charge(cost)))
	return debt, p.leave(err, false)
}

// arrive ends the lane after its first charge, or sees to those that came
// meanwhile.
func (s *Store) arrive(place *atomic.Pointer[lane], l *lane, client rueidis.Client) {
	if l.queue.CompareAndSwap(nil, gone) {
		place.CompareAndSwap(l, nil)
		return
	}
	// It counts as one in flight, so that the cap is one on goroutines too.
	s.guard.inFlight.Add(1)
	go func() {
		defer s.guard.inFlight.Add(-1)
		for !l.queue.CompareAndSwap(nil, gone) {
			s.carry(l, client)
		}
		place.CompareAndSwap(l, nil)
	}()
}

// carry charges all that wait, in the order in which they came.
func (s *Store) carry(l *lane, client rueidis.Client) {
	riders := l.board()
	if len(riders) == 0 {
		return
	}
	tau := l.set.rates[0].tau
	args := append(make([]string, 0, 4), strconv.FormatInt(tau, 10), s.now())
	for first, r := range riders {
		if first > 0 && riders[first-1].cost == r.cost {
			continue
		}
		alike := 1
		for first+alike < len(riders) && riders[first+alike].cost == r.cost {
			alike++
		}
		args = append(args, strconv.FormatInt(l.set.rates[0].inTime(r.cost), 10), strconv.Itoa(alike))
	}
	c := &call{Context: s.guard.shared(), values: riders[0].values, key: l.key}
	debt, err := c.integer(gcraBatchScript, client, args)
	for _, r := range riders {
		reply := -1 - debt
		if charge := l.set.rates[0].inTime(r.cost); debt+charge <= tau {
			debt += charge
			reply = debt
		}
		r.answer <- answer{reply, err}
	}
}
