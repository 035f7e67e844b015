package redisstore

import (
	"context"
	"sync/atomic"
	"time"
)

// deadlines hands out contexts that end after the timeout. A context of its own
// would cost every check a microsecond and five allocations, so all checks that
// begin within one tick share one: it ends up to a tick later.
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

// limit returns a context that ends in timeout, or up to a tick later. A
// deadline of ctx that is earlier holds too; that ctx is cancelled does not,
// because rueidis would hand one caller's hang-up to others.
func (d *deadlines) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d.timeout {
		return context.WithDeadline(context.Background(), deadline)
	}
	return d.shared(), nothing
}

func nothing() {}

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
