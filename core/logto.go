package core

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// LogTo is an [Observer] that logs what an operator wants to know: refusals at
// Info, unknown tiers at Warn, storage failures at Error and at most one of
// those a second. It never logs the caller's key or address; what an
// IdentifyFunc puts into its error is logged as it is. A nil logger
// means [slog.Default] at the time of the event.
func LogTo(l *slog.Logger) Observer {
	log := &eventLog{logger: l}
	return log.observe
}

type eventLog struct {
	logger *slog.Logger
	next   atomic.Int64 // when the next storage failure may be logged, in ns since 1970
	silent atomic.Int64 // storage failures that were not
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
	switch {
	case d.Outcome == StorageFailed, d.Outcome == AllowedOnStorageError, e.Late && d.Err != nil && d.Outcome == Allowed:
		g.storageFailed(ctx, l, d)
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

func (g *eventLog) storageFailed(ctx context.Context, l *slog.Logger, d *Decision) {
	now := d.At.UnixNano()
	next := g.next.Load()
	// A clock that was set back must not silence failures until it catches up.
	if now < next && next-now <= int64(time.Second) || !g.next.CompareAndSwap(next, now+int64(time.Second)) {
		g.silent.Add(1)
		return
	}
	l.ErrorContext(ctx, "rate limit: storage failed", "tier", d.Tier, "outcome", d.Outcome.String(),
		"error", d.Err.Error(), "not_logged", g.silent.Swap(0))
}

// short bounds what a caller's token can put into a log line.
func short(tier string) string {
	if len(tier) > 64 {
		return tier[:64]
	}
	return tier
}
