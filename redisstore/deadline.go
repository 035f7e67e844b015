package redisstore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// deadlines hands out contexts that end after the timeout. A context of its own
// would cost every check a microsecond and five allocations, so all checks that
// begin within one tick share one: it ends up to a tick later. No caller's own
// context goes to rueidis: it would hand one caller's hang-up, or lack of time,
// to others that wait for the same connection.
type deadlines struct {
	timeout time.Duration
	base    time.Time
	current atomic.Pointer[sharedDeadline]
}

const tick = 5 * time.Millisecond

type sharedDeadline struct {
	ctx    context.Context //nolint:containedctx // it is what is shared
	cancel context.CancelFunc
	stale  time.Duration // since base: when the next one is due
}

// shared is a context that ends in timeout, or up to a tick later.
func (d *deadlines) shared() context.Context {
	now := time.Since(d.base)
	was := d.current.Load()
	if was != nil && now < was.stale {
		return was.ctx
	}
	ctx, cancel := context.WithTimeout(context.Background(), d.timeout+tick)
	fresh := &sharedDeadline{ctx: ctx, cancel: cancel, stale: now + tick}
	if !d.current.CompareAndSwap(was, fresh) {
		fresh.cancel() // another was faster; the one that won ends by itself
		return d.current.Load().ctx
	}
	return ctx
}

// inHurry tells whether the caller has less time than a check may take.
func (d *deadlines) inHurry(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) < d.timeout
}

// hurry waits for a check until the caller's deadline. The check goes on to its
// own: what was sent is in flight until it is answered.
func hurry[T any](ctx context.Context, p pass, check func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var gone atomic.Bool
	answers := make(chan answer, 1)
	go func() {
		value, err := caught(check)
		answers <- answer{value, p.leave(err, gone.Load())}
	}()
	deadline, _ := ctx.Deadline()
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-timer.C:
		gone.Store(true)
		select {
		case <-ctx.Done(): // at the same moment: callers see by it whose time is over
		case <-time.After(tick):
		}
		var none T
		return none, fmt.Errorf("%w: %w", context.DeadlineExceeded, ErrTimeout)
	}
}

// caught turns a panic of the client, or of a hook in it, into an error: in a
// goroutine of the store it would end the program.
func caught[T any](check func() (T, error)) (value T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the client panicked: %v", v)
		}
	}()
	return check()
}

// errPanicked is what a check has come to that panics in its caller's goroutine.
var errPanicked = errors.New("the client panicked")
