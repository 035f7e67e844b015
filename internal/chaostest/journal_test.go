package chaostest_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// journal is what happened, by the time since it began. It is safe for
// concurrent use.
type journal struct {
	began   time.Time
	changes atomic.Int64 // of the fallback stores' states

	mu        sync.Mutex
	decisions []decision
	calls     []call
	accounts  map[core.Key]account
	statuses  map[int]int

	failing  sync.Mutex // not mu, which would be part of what a check takes
	failures []failure
	errors   map[string]int
	paused   map[int]time.Duration // by instance: when its breaker was first seen open
	tried    map[int][]attempt     // by instance: what its breaker let through
}

// attempt is a check that was let through to Redis.
type attempt struct{ began, ended time.Duration }

// failure is an error of a shared store.
type failure struct {
	at    time.Duration
	label string
}

// decision is an answer of a limiter.
type decision struct {
	at, told time.Duration // when it was asked for, and answered
	tier     string
	allowed  bool
	degraded bool
	outcome  core.Outcome
}

// call is one Take of a whole store.
type call struct {
	at, took time.Duration
	degraded bool
}

// account is what one caller was charged, net of what was given back.
type account struct {
	limits        []core.Limit
	shared, local units
}

type units struct {
	n           int
	first, last time.Duration // from the question of the first to the answer of the last
}

func (u *units) add(n int, asked, answered time.Duration) {
	if u.last == 0 {
		u.first = asked
	}
	u.first, u.last = min(u.first, asked), max(u.last, answered)
	u.n += n
}

func (u *units) span() time.Duration { return u.last - u.first }

func newJournal() *journal {
	return &journal{
		began: time.Now(), accounts: map[core.Key]account{}, errors: map[string]int{},
		paused: map[int]time.Duration{}, statuses: map[int]int{}, tried: map[int][]attempt{},
	}
}

func (j *journal) now() time.Duration { return time.Since(j.began) }

// observe is a limiter's observer.
func (j *journal) observe(_ context.Context, e core.Event) {
	now := j.now()
	j.mu.Lock()
	defer j.mu.Unlock()
	if !e.Late {
		j.decisions = append(j.decisions, decision{
			now - e.Elapsed, now, e.Decision.Tier, e.Decision.Allowed(), e.Decision.Degraded, e.Decision.Outcome,
		})
	}
}

func (j *journal) status(code int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.statuses[code]++
}

// snapshot is the accounts as they are now.
func (j *journal) snapshot() map[core.Key]account {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.accounts)
}

// between are the decisions that were asked for in a span of time.
func (j *journal) between(from, to time.Duration) []decision {
	j.mu.Lock()
	defer j.mu.Unlock()
	var found []decision
	for _, d := range slices.Backward(j.decisions) {
		if from <= d.at && d.at < to {
			found = append(found, d)
		}
		if d.told < from-quiet {
			break // they were told in about this order
		}
	}
	return found
}

// failed are the errors in a span of time.
func (j *journal) failed(from, to time.Duration) map[string]int {
	j.failing.Lock()
	defer j.failing.Unlock()
	found := map[string]int{}
	for _, f := range j.failures {
		if from <= f.at && f.at < to {
			found[f.label]++
		}
	}
	return found
}

// waits are how long the store's calls took that began in a span of time.
func (j *journal) waits(from, to time.Duration) durations {
	j.mu.Lock()
	defer j.mu.Unlock()
	var found durations
	for _, c := range j.calls {
		if from <= c.at && c.at < to {
			found = append(found, c.took)
		}
	}
	return found
}
