package core

import (
	"context"
	"time"
)

// Event is what an [Observer] is told about one decision.
type Event struct {
	// Identity is who asked. Its Key is not for logs or metric labels.
	Identity Identity
	// Decision is the answer.
	Decision Decision
	// UnknownTier tells that Identity.Tier is not in the plans, whatever the
	// policy did about it.
	UnknownTier bool
	// Late tells that this corrects the request's earlier event after a Raise,
	// Settle or Refund: counters of requests skip it.
	Late bool
	// Elapsed is how long deciding took, by the limiter's clock.
	Elapsed time.Duration
}

// Observer is told of every decision after it is made, in the request's path:
// be quick. It is called concurrently with no lock held, and it cannot change
// a decision; a panic in it is recovered and dropped. It must not serve a
// request of its own under ctx, which belongs to the one decided.
type Observer func(ctx context.Context, e Event)

// tell hands d to every observer.
func (l *Limiter) tell(ctx context.Context, d *Decision, late bool, began time.Time) {
	e := Event{
		Identity:    d.identity,
		Decision:    *d,
		UnknownTier: d.unknown,
		Late:        late,
		Elapsed:     l.clock.Now().Sub(began),
	}
	for _, o := range l.observers {
		o.call(ctx, e)
	}
}

// tellLate tells of a correction.
func (l *Limiter) tellLate(ctx context.Context, d *Decision, began time.Time) {
	if len(l.observers) > 0 {
		l.tell(ctx, d, true, began)
	}
}

func (o Observer) call(ctx context.Context, e Event) {
	// What an observer breaks is its own: the request was decided already.
	defer func() { _ = recover() }()
	o(ctx, e)
}
