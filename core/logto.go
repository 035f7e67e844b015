package core

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// LogTo is an [Observer] that logs what an operator wants to know: refusals at
// Info, unknown tiers at Warn, that a fallback answers at Warn and storage
// failures at Error, at most one a second of each of these two. It never logs the
// caller's key or address; what an IdentifyFunc puts into its error is logged as
// it is. A nil logger means [slog.Default] at the time of the event.
func LogTo(l *slog.Logger) Observer {
	log := &eventLog{logger: l}
	return log.observe
}

type eventLog struct {
	logger             *slog.Logger
	failures, degraded interval
}

func (g *eventLog) observe(ctx context.Context, e Event) {
	l := g.logger
	if l == nil {
		l = slog.Default()
	}
	d := &e.Decision
	if e.UnknownTier && !e.Late {
		l.WarnContext(ctx, "rate limit: unknown tier", "unknown_tier", short(e.Identity.Tier), "tier", d.Tier, "outcome", d.Outcome.String())
	}
	if d.Degraded && !e.Late {
		if unlogged, ok := g.degraded.passed(d.At); ok {
			l.WarnContext(ctx, "rate limit: degraded", "tier", d.Tier, "outcome", d.Outcome.String(), "not_logged", unlogged)
		}
	}
	switch {
	case d.Outcome == StorageFailed, d.Outcome == AllowedOnStorageError, e.Late && d.Err != nil && d.Outcome == Allowed:
		if unlogged, ok := g.failures.passed(d.At); ok {
			l.ErrorContext(ctx, "rate limit: storage failed", "tier", d.Tier, "outcome", d.Outcome.String(),
				"error", d.Err.Error(), "not_logged", unlogged)
		}
	case d.Outcome < Allowed && !(e.Late && d.Shadowed):
		attrs := []any{"tier", d.Tier, "outcome", d.Outcome.String(), "asked", d.Asked, "retry_after", d.Level.RetryAfter}
		if d.Shadowed {
			attrs = append(attrs, "shadow", true)
		}
		if d.Err != nil {
			attrs = append(attrs, "error", d.Err.Error())
		}
		l.InfoContext(ctx, "rate limit: refused", attrs...)
	}
}

// interval lets one of many a second be logged.
type interval struct {
	next   atomic.Int64 // when the next one may be, in ns since 1970
	silent atomic.Int64 // how many were not
}

// passed tells whether what happened at some time may be logged, and how many
// before it were not.
func (i *interval) passed(at time.Time) (unlogged int64, ok bool) {
	now := at.UnixNano()
	next := i.next.Load()
	// A clock that was set back must not silence them until it catches up.
	if now < next && next-now <= int64(time.Second) || !i.next.CompareAndSwap(next, now+int64(time.Second)) {
		i.silent.Add(1)
		return 0, false
	}
	return i.silent.Swap(0), true
}

// short bounds what a caller's token can put into a log line.
func short(tier string) string {
	if len(tier) > 64 {
		return tier[:64]
	}
	return tier
}
