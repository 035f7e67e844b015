package redisstore

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// breaker stops asking a Redis that has stopped answering: after so many
// failures in a row it fails checks at once for a cool-down, then lets one
// probe through. While all is well a check reads one number and takes no lock,
// which is why it is not one that guards every call with a mutex.
type breaker struct {
	failures int64         // in a row that open it
	cooldown time.Duration // give or take a quarter, so that instances do not probe in step
	changed  func()
	base     time.Time

	state atomic.Uint32 // a State
	row   atomic.Int64  // failures in a row while closed
	owed  atomic.Int64  // checks whose callers gave up since the last answer: they may still be in flight
	heard atomic.Int64  // since base: when mayListen last said so

	era atomic.Uint64 // counts changes: a failure of a check that began in an earlier one tells nothing

	mu    sync.Mutex    // orders changes of state
	until time.Duration // since base: when the cool-down ends
}

// ticket is what a check has to give back.
type ticket struct {
	era   uint64
	probe bool
}

// enter lets a check through, or not.
func (b *breaker) enter() (ticket, bool) {
	era := b.era.Load() // before the state, so that it is not of a later one
	if State(b.state.Load()) == StateClosed {
		return ticket{era: era}, true
	}
	return b.enterOpen()
}

func (b *breaker) enterOpen() (ticket, bool) {
	b.mu.Lock()
	state := State(b.state.Load())
	switch {
	case state == StateClosed:
		b.mu.Unlock()
		return ticket{era: b.era.Load()}, true
	case state == StateHalfOpen || time.Since(b.base) < b.until:
		b.mu.Unlock()
		return ticket{}, false
	}
	t := ticket{era: b.turn(StateHalfOpen), probe: true}
	b.mu.Unlock()
	b.changed()
	return t, true
}

// leave notes how a check went. Failed means that Redis could not be talked
// to; answered, that it could. A probe that says neither lets another one try.
func (b *breaker) leave(t ticket, answered, failed bool) {
	switch {
	case t.probe:
		b.leaveProbe(t, answered)
	case answered:
		if b.row.Load() != 0 {
			b.row.Store(0)
		}
		if b.owed.Load() != 0 {
			b.owed.Store(0)
		}
	case failed && t.era == b.era.Load() && b.row.Add(1) >= b.failures:
		b.open()
	}
}

func (b *breaker) open() {
	b.mu.Lock()
	if State(b.state.Load()) != StateClosed || b.row.Load() < b.failures {
		b.mu.Unlock()
		return
	}
	b.cool()
	b.turn(StateOpen)
	b.mu.Unlock()
	b.changed()
}

func (b *breaker) leaveProbe(t ticket, answered bool) {
	b.mu.Lock()
	if t.era != b.era.Load() {
		b.mu.Unlock()
		return
	}
	if answered {
		b.turn(StateClosed)
	} else {
		b.cool()
		b.turn(StateOpen)
	}
	b.mu.Unlock()
	b.changed()
}

// mayListen tells, once in a cool-down, somebody whom the cap kept out to find
// out whether Redis answers, when it is those who gave up that fill it.
func (b *breaker) mayListen() bool {
	now, last := int64(time.Since(b.base)), b.heard.Load()
	return b.owed.Load() > 0 && now-last >= int64(b.cooldown) && b.heard.CompareAndSwap(last, now)
}

// turn changes the state. The lock is held.
func (b *breaker) turn(s State) uint64 {
	b.row.Store(0)
	b.owed.Store(0)
	b.state.Store(uint32(s))
	return b.era.Add(1)
}

// cool begins a cool-down. The lock is held.
func (b *breaker) cool() {
	spread := 0.75 + rand.Float64()/2 //nolint:gosec // jitter
	b.until = time.Since(b.base) + time.Duration(float64(b.cooldown)*spread)
}
