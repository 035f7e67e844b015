package core

import (
	"context"
	"errors"
	"time"
)

// Store keeps buckets. It knows no plans: the limits come with every request.
// Package storetest proves an implementation: what it does must equal [Apply],
// number for number.
//
// A Store is safe for concurrent use. It must not keep or change r.Limits.
type Store interface {
	// Take does r in one atomic step: no other request for the same bucket
	// comes between its judgement and its charge. "Over quota" is a Result, not
	// an error. An error means that nothing is known: the charge may or may not
	// have happened. When ctx ends first, its error is returned.
	Take(ctx context.Context, r Request) (Result, error)
	// Reset forgets what key spent under these limits, and the plain bucket
	// that a lone GCRA window of this key uses. An unknown key is no error.
	Reset(ctx context.Context, key Key, limits []Limit) error
}

// Preparer is what a [Store] in this process may be as well, for speed alone: a
// [Limiter] then has the usual check, a charge of a lone GCRA window, made ready
// once for each tier instead of spelling it out at every request. Package
// memstore is one: a hot check of a limiter takes 80 ns that way, and 115 else.
// Other windows, overrides and all that is no plain charge go through Take.
type Preparer interface {
	// Prepare returns what does Take's work for charges of limit, a GCRA window,
	// in tier, or nil where there is nothing shorter than Take. [New] and
	// [Limiter.SetPlans] call it for each tier of one such window. It touches no
	// bucket, and two calls may come at once.
	//
	// asked is the store that the limiter was given: a Preparer that is not asked
	// itself, because another store has it embedded, returns nil, so that the
	// other's Take is not passed over.
	Prepare(asked Store, tier string, limit Limit) Prepared
}

// Prepared is Take with [Charge] for a cost from 0 to the limit's burst, of one
// limit in one tier. It never fails or waits, is never Degraded, and tells its
// clock as [Result].Now does. id is [Key].ID, an address where anonymous is true.
// It is safe for concurrent use.
type Prepared func(scope, id string, anonymous bool, cost int) (level Level, now time.Time, allowed bool)

// ErrUnsupported is returned by a [Store] that lacks an algorithm or a
// combination of windows. A [Limiter] refuses such a request with 503 whatever
// its policies say, because letting it through would mean no limit at all.
var ErrUnsupported = errors.New("core: the store does not support these limits")

// Key names a bucket, together with the set of (algorithm, window) of the
// limits. All its parts count: tier "a" with ID "b:c" is not tier "a:b" with
// ID "c". The zero Key is an ordinary key.
type Key struct {
	Scope     string // keeps limiters on one store apart; "" is shared by all that name none
	Tier      string // the plan's name: another tier is another bucket
	ID        string // whom to charge; anything, of any length
	Anonymous bool   // ID is an address; never the same bucket as a user's
}

// Request is one question to a [Store].
type Request struct {
	Key      Key
	Limits   []Limit // 1 to MaxLimits windows, none twice, all or none; read only
	Cost     int     // units: 1 for an ordinary request; below 0 only with Force
	Mode     Mode
	Degraded bool // corrects a charge that a fallback made; a plain store ignores it
	Undo     bool // a Force below 0 that takes back what a refused Raise had charged; a deny cache keeps what it does not make untrue
}

// Mode says what a [Request] does with its cost. The zero value is [Charge].
type Mode uint8

const (
	// Charge takes Cost from every window, or from none. A cost of 0 is allowed
	// even on an empty bucket and writes nothing.
	Charge Mode = iota
	// Look judges Cost and writes nothing.
	Look
	// Force takes from each window what it has left, up to Cost; a Cost below 0
	// gives units back, never beyond full. It never refuses.
	Force
)

// Result is a [Store]'s answer.
type Result struct {
	Allowed  bool             // every window had room for the cost; always true for Force
	Degraded bool             // a fallback answered
	Charged  int              // units that every window took: Cost, or less where Force met less; 0 when refused or after a Look
	Now      time.Time        // the store's clock when it judged; zero where it does not tell
	Levels   [MaxLimits]Level // what stands afterwards, in the order of Request.Limits
}

// Level is what stands in one window.
type Level struct {
	Remaining  int           // whole units left, never below 0: 9 of 10 after one
	ResetAfter time.Duration // until the window is full again; 0 when it is: 6 s after one of 10 a minute
	RetryAfter time.Duration // until this same cost fits: 6 s when all 10 are spent; 0 when it does, or when no wait is known to help
}
