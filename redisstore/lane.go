package redisstore

import (
	"context"
	"hash/maphash"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
)

// lane is the way to Redis of the charges of one bucket. The first goes at
// once and alone. Those that come while it is under way ride together in one
// call after it, and those that come during that one in the next: however many
// ask for one bucket, one call is under way.
type lane struct {
	call // the first's own

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

	base time.Time
	slow atomic.Int64 // since base: until when nobody rides; 0: all do
}

// afterSlow is how long nobody waits for another's call once one took so long
// that a second might not fit into a check's time.
const afterSlow = time.Second

func (l *lanes) place(key string) *atomic.Pointer[lane] {
	return &l.places[maphash.String(l.seed, key)%uint64(len(l.places))]
}

// areSlow tells whether calls take too long to wait for one before one's own.
func (l *lanes) areSlow() bool {
	until := l.slow.Load()
	if until == 0 {
		return false
	}
	if int64(time.Since(l.base)) < until {
		return true
	}
	l.slow.CompareAndSwap(until, 0)
	return false
}

func (l *lanes) noteSlow() { l.slow.Store(int64(time.Since(l.base) + afterSlow)) }

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
	if ahead != nil && ahead.set == set && ahead.key[0] == key && !s.lanes.areSlow() {
		if r := ahead.enqueue(ctx, cost); r != nil {
			return s.ride(deadline, ahead, r, p, conn.client)
		}
	}
	own := &lane{call: call{Context: deadline, values: ctx, key: [1]string{key}}, set: set}
	args := s.withNow(set.charge(cost))
	if (ahead == nil || ahead.queue.Load() == gone) && place.CompareAndSwap(ahead, own) {
		return s.lead(place, own, p, conn.client, args)
	}
	return own.integerBy(p, gcraScript, conn.client, args)
}

// lead carries the first charge of a lane. Those behind it are seen to before
// anything else, also when the client panics.
func (s *Store) lead(place *atomic.Pointer[lane], l *lane, p pass, client rueidis.Client, args []string) (debt int64, err error) {
	err = errPanicked
	defer func() {
		s.arrive(place, l, client)
		err = p.leave(err, false)
	}()
	debt, err = l.integer(gcraScript, client, args)
	return debt, err
}

// arrive ends the lane after its first charge, or sees to those that came
// meanwhile, in a lane without the first's context.
func (s *Store) arrive(place *atomic.Pointer[lane], l *lane, client rueidis.Client) {
	if l.queue.CompareAndSwap(nil, gone) {
		place.CompareAndSwap(l, nil)
		return
	}
	rest := &lane{call: call{key: l.key}, set: l.set}
	rest.queue.Store(l.queue.Swap(gone))
	place.CompareAndSwap(l, rest)
	go func() {
		for !rest.queue.CompareAndSwap(nil, gone) {
			s.carry(rest, client)
		}
		place.CompareAndSwap(rest, nil)
	}()
}

// carry charges all that wait, in the order in which they came.
func (s *Store) carry(l *lane, client rueidis.Client) {
	riders := l.board()
	if len(riders) == 0 {
		return
	}
	// The call has the first rider's place in flight, or one more where that one
	// has left already.
	if !riders[0].state.CompareAndSwap(aboard, holds) {
		s.guard.inFlight.Add(1)
	}
	rate := l.set.rates[0]
	args := append(make([]string, 0, 4), strconv.FormatInt(rate.tau, 10), s.now())
	for first, r := range riders {
		if first > 0 && riders[first-1].cost == r.cost {
			continue
		}
		alike := 1
		for first+alike < len(riders) && riders[first+alike].cost == r.cost {
			alike++
		}
		args = append(args, strconv.FormatInt(rate.inTime(r.cost), 10), strconv.Itoa(alike))
	}
	c := &call{Context: s.guard.shared(), values: riders[0].values, key: l.key}
	debt, err := caught(func() (int64, error) { return c.integer(gcraBatchScript, client, args) })
	s.guard.inFlight.Add(-1) // before the first rider can come again
	for _, r := range riders {
		reply := -1 - debt
		if charge := rate.inTime(r.cost); debt+charge <= rate.tau {
			debt += charge
			reply = debt
		}
		r.answer <- answer{reply, err}
	}
}
