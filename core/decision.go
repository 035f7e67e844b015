package core

import (
	"iter"
	"time"
)

// Decision is the answer to one request. It is a value, safe to copy and to
// read concurrently. The zero Decision refuses.
//
// It can correct the charge that it stands for: [Decision.Raise] before the
// work is done, [Decision.Settle] and [Decision.Refund] afterwards. Each
// returns the corrected Decision, which replaces the old one.
//
//nolint:recvcheck // callers get copies; what fills a Decision needs the pointer
type Decision struct {
	// Outcome says why; obey [Decision.Allowed].
	Outcome Outcome
	// Degraded tells that a fallback answered.
	Degraded bool
	// Shadowed tells that a shadow tier would have refused: Outcome says why,
	// and Allowed is true.
	Shadowed bool

	// Small fields stand together: a Decision is copied often, and is 16 bytes
	// smaller for it.
	unknown  bool  // Identity.Tier is not in the plans
	answered bool  // the store judged it, so its charge can be corrected
	status   int16 // of a policy's refusal; 0: the outcome's own

	// Tier is the name of the tier it was judged under; "" when there was none.
	Tier string
	// Asked is how many units were asked for in all: 5 for /report.
	Asked int
	// Cost is how many units were really charged in all; 0 when refused.
	Cost int
	// Limit is the window that binds: the longest wait of a refusal, the least
	// left of an allowed request. It is zero when no window was judged.
	Limit Limit
	// Level is what stands in Limit now.
	Level Level
	// At is when it was judged: by the store's clock where the store tells it,
	// else by this machine's.
	At time.Time
	// Err is what went wrong, for logs and never for clients; nil when nothing.
	Err error

	fallback int // units of Cost that a fallback has charged
	checked  time.Duration
	limiter  *Limiter
	grant    *grant
	identity Identity
	levels   *[MaxLimits]Level // of several windows; nil for one
}

// Allowed tells whether to serve the request. Every policy is in it already.
func (d Decision) Allowed() bool {
	return d.Shadowed || d.Outcome >= Allowed && int(d.Outcome) < len(outcomes)
}

// Status is the HTTP status of a refusal: 429 over quota, 403 when waiting does
// not help, 503 when the store or the identification failed, 500 for an invalid
// cost, 499 when the client hung up, or the status of the policy that refused.
// It is 200 when allowed.
func (d Decision) Status() int {
	switch {
	case d.Allowed():
		return outcomes[Allowed].status
	case d.status != 0:
		return int(d.status)
	case int(d.Outcome) < len(outcomes):
		return outcomes[d.Outcome].status
	}
	return outcomes[StorageFailed].status
}

// Enforced tells whether a refusal would have been carried out: it is false
// under a [Quota.Shadow] and for the zero Decision, whose windows are nothing
// to tell the caller about.
func (d Decision) Enforced() bool { return d.grant != nil && !d.grant.quota.shadow }

// All yields every window that was judged with what stands in it, in the order
// of the quota; nothing where no window was judged. It may be called again and
// again.
func (d Decision) All() iter.Seq2[Limit, Level] {
	return func(yield func(Limit, Level) bool) {
		switch {
		case d.grant == nil || d.Limit == (Limit{}) || d.Outcome == CostExceedsLimit:
		case d.levels == nil:
			yield(d.Limit, d.Level)
		default:
			for i, limit := range d.grant.limits {
				if !yield(limit, d.levels[i]) {
					return
				}
			}
		}
	}
}

// read takes over what the store found: the levels, and which window binds.
func (d *Decision) read(res *Result) {
	limits := d.grant.limits
	binding := 0
	for i := 1; i < len(limits); i++ {
		a, b := &res.Levels[i], &res.Levels[binding]
		if res.Allowed && a.Remaining < b.Remaining || !res.Allowed && a.RetryAfter > b.RetryAfter {
			binding = i
		}
	}
	d.Limit, d.Level = limits[binding], res.Levels[binding]
	if len(limits) > 1 {
		levels := res.Levels
		d.levels = &levels
	}
	d.Degraded = res.Degraded
	d.answered = true
}

// refuse turns d into a refusal, which a shadow tier only notes.
func (d *Decision) refuse(o Outcome) {
	d.Outcome = o
	d.Cost = 0
	d.Shadowed = d.grant != nil && d.grant.quota.shadow && o != Canceled
}
