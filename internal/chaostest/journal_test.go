package chaostest_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/redisstore"
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
}

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
		paused: map[int]time.Duration{}, statuses: map[int]int{},
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

// whole notes what a limiter's store is asked and answers.
type whole struct {
	core.Store

	journal *journal
}

func (s whole) Take(ctx context.Context, r core.Request) (core.Result, error) {
	j := s.journal
	asked := j.now()
	res, err := s.Store.Take(ctx, r)
	answered := j.now()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.calls = append(j.calls, call{asked, answered - asked, res.Degraded})
	if err == nil && res.Charged != 0 {
		a := j.accounts[r.Key]
		a.limits = r.Limits
		if res.Degraded {
			a.local.add(res.Charged, asked, answered)
		} else {
			a.shared.add(res.Charged, asked, answered)
		}
		j.accounts[r.Key] = a
	}
	return res, err
}

// inner notes the errors of one instance's shared store.
type inner struct {
	core.Store

	journal  *journal
	instance int
}

func (s inner) Take(ctx context.Context, r core.Request) (core.Result, error) {
	res, err := s.Store.Take(ctx, r)
	if err != nil {
		j, now := s.journal, s.journal.now()
		j.failing.Lock()
		defer j.failing.Unlock()
		j.errors[label(err)]++
		j.failures = append(j.failures, failure{now, label(err)})
		if _, seen := j.paused[s.instance]; !seen && errors.Is(err, redisstore.ErrPaused) {
			j.paused[s.instance] = now
		}
	}
	return res, err
}

// label is the class of an error, as one would count them.
func label(err error) string {
	for name, class := range map[string]error{
		"timeout":     redisstore.ErrTimeout,
		"unreachable": redisstore.ErrUnreachable,
		"refused":     redisstore.ErrRefused,
		"busy":        redisstore.ErrBusy,
		"paused":      redisstore.ErrPaused,
		"reply":       redisstore.ErrReply,
	} {
		if errors.Is(err, class) {
			return name
		}
	}
	return err.Error()
}
