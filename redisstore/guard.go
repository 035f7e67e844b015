package redisstore

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"
)

// guard keeps a check's promise to be quick whatever Redis does: a deadline, a
// cap on the checks in flight, below what one connection's ring holds, because
// rueidis waits without a deadline for a full one; and breakers.
type guard struct {
	deadlines

	patience deadlines // how long a charge waits for the call before it

	most     int64
	breakers []*breaker // one, or in a Cluster one for each range of slots
	onChange func(State)
	shown    atomic.Uint32 // the State that onChange knows
	telling  atomic.Bool

	_        [64]byte // what follows is written by every check
	inFlight atomic.Int64
}

// ranges is how many parts of a Cluster's slots have a breaker of their own, so
// that one dead shard does not stop the others.
const ranges = 16

func newGuard(o *options) *guard {
	g := &guard{most: int64(o.maxInFlight), onChange: o.onChange, breakers: make([]*breaker, ranges)}
	g.timeout, g.base = o.timeout, time.Now()
	g.patience.timeout, g.patience.base = o.timeout/4, g.base
	for i := range g.breakers {
		g.breakers[i] = &breaker{failures: int64(o.failures), cooldown: o.cooldown, base: g.base, changed: g.changed}
	}
	return g
}

// pass lets one check through.
type pass struct {
	guard   *guard
	breaker *breaker
	ticket  ticket
}

// enter lets a check through, or tells at once why not. Whoever gets a pass
// leaves by it.
func (g *guard) enter(ctx context.Context, b *breaker) (pass, error) {
	if err := ctx.Err(); err != nil {
		return pass{}, err //nolint:wrapcheck // the caller's own, as it is
	}
	if g.inFlight.Add(1)+b.owed.Load() > g.most {
		g.inFlight.Add(-1)
		return pass{}, ErrBusy
	}
	t, ok := b.enter()
	if !ok {
		g.inFlight.Add(-1)
		return pass{}, ErrPaused
	}
	return pass{guard: g, breaker: b, ticket: t}, nil
}

// leave notes how the check went, and whether its caller is gone by now, and
// returns its error for the caller.
func (p pass) leave(err error, gone bool) error {
	p.guard.inFlight.Add(-1)
	return p.note(err, gone)
}

// note is leave for a check whose place in flight another gives back.
func (p pass) note(err error, gone bool) error {
	if err == nil {
		p.breaker.leave(p.ticket, true, false)
		return nil
	}
	err = classify(err)
	failed := breaks(err)
	if gone && errors.Is(err, ErrTimeout) {
		// Who gave less time than the store would does not count, as who hangs
		// up does not. But a place in the connection's ring is taken.
		p.breaker.owed.Add(1)
		p.breaker.leave(p.ticket, false, false)
		return err
	}
	p.breaker.leave(p.ticket, !failed, failed)
	return err
}

// state is the worst of all breakers.
func (g *guard) state() State {
	worst := StateClosed
	for _, b := range g.breakers {
		worst = max(worst, State(b.state.Load()))
	}
	return worst
}

// changed tells of a change of the whole, with no lock held. One tells at a
// time, and again until nothing is new: whoever was overtaken would have the
// last word otherwise.
func (g *guard) changed() {
	for g.onChange != nil && State(g.shown.Load()) != g.state() && g.telling.CompareAndSwap(false, true) {
		g.tell()
	}
}

func (g *guard) tell() {
	defer g.telling.Store(false)
	if s := g.state(); State(g.shown.Swap(uint32(s))) != s {
		// A check is under way, some in goroutines of ours, where a panic would end
		// the program. What it was told about has happened all the same.
		defer func() {
			if v := recover(); v != nil {
				slog.Error("redisstore: the function of WithStateChange panicked", "state", s.String(), "panic", v)
			}
		}()
		g.onChange(s)
	}
}
