package core_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
)

// start is an ordinary moment: 46 s before a minute turns over.
var start = time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC)

// bucket is where the store keeps a state: another set of windows is another
// bucket, and a lone GCRA window, whatever its length, is the plain one.
type bucket struct {
	key core.Key
	set string
}

func bucketOf(r core.Request) bucket {
	if len(r.Limits) == 1 && r.Limits[0].Algorithm == core.GCRA {
		return bucket{key: r.Key}
	}
	names := make([]string, 0, len(r.Limits))
	for _, l := range r.Limits {
		names = append(names, l.Algorithm.String()+l.Window.String())
	}
	slices.Sort(names)
	return bucket{key: r.Key, set: strings.Join(names, "+")}
}

// refStore is the smallest store there can be: one mutex around core.Apply. It
// remembers what it was asked, and fails on demand.
type refStore struct {
	clock core.Clock

	mu       sync.Mutex
	states   map[bucket]*core.State
	requests []core.Request
	resets   []core.Key
	fail     error                           // what every call returns
	answer   func(ctx context.Context) error // runs before a Take; an error is what it returns
	degraded bool                            // answers as a fallback would
	silent   bool                            // does not tell the time
}

func newStore(clock core.Clock) *refStore {
	return &refStore{clock: clock, states: map[bucket]*core.State{}}
}

func (s *refStore) Take(ctx context.Context, r core.Request) (core.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if s.answer != nil {
		if err := s.answer(ctx); err != nil {
			return core.Result{}, err
		}
	}
	if s.fail != nil {
		return core.Result{}, s.fail
	}
	if err := ctx.Err(); err != nil {
		return core.Result{}, err
	}
	state := s.states[bucketOf(r)]
	if state == nil {
		state = &core.State{}
		s.states[bucketOf(r)] = state
	}
	res := core.Apply(state, s.clock.Now(), r)
	res.Degraded = s.degraded
	if s.silent {
		res.Now = time.Time{}
	}
	return res, nil
}

func (s *refStore) Reset(_ context.Context, key core.Key, limits []core.Limit) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resets = append(s.resets, key)
	if s.fail != nil {
		return s.fail
	}
	delete(s.states, bucketOf(core.Request{Key: key, Limits: limits}))
	delete(s.states, bucket{key: key})
	return nil
}

// set changes how the store behaves from here on.
func (s *refStore) set(change func(s *refStore)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// calls is how many times Take was asked.
func (s *refStore) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// last is the latest request.
func (s *refStore) last(tb testing.TB) core.Request {
	tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.NotEmpty(tb, s.requests)
	return s.requests[len(s.requests)-1]
}

// keys are the keys of all buckets, in no order.
func (s *refStore) keys() []core.Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []core.Key
	for b := range maps.Keys(s.states) {
		keys = append(keys, b.key)
	}
	return keys
}

// rig is a limiter on a refStore, both on a clock that the test moves.
type rig struct {
	*core.Limiter

	clock *fakeclock.Clock
	store *refStore
}

// newRig makes a rig; opts come after WithClock.
func newRig(tb testing.TB, plans core.Plans, opts ...core.Option) *rig {
	tb.Helper()
	clock := fakeclock.New(start)
	store := newStore(clock)
	limiter, err := core.New(store, plans, append([]core.Option{core.WithClock(clock)}, opts...)...)
	require.NoError(tb, err)
	return &rig{Limiter: limiter, clock: clock, store: store}
}

// with is Limiter.With that must succeed.
func (r *rig) with(tb testing.TB, opts ...core.Option) *core.Limiter {
	tb.Helper()
	child, err := r.With(opts...)
	require.NoError(tb, err)
	return child
}

// left is what id has left in the window that binds.
func (r *rig) left(tb testing.TB, id core.Identity) int {
	tb.Helper()
	d := r.Peek(tb.Context(), id, 0)
	require.Equal(tb, core.Allowed, d.Outcome)
	return d.Level.Remaining
}

// only are plans of one tier, which is the default.
func only(name string, q core.Quota) core.Plans {
	return core.Plans{Tiers: map[string]core.Quota{name: q}, Default: name}
}

// ana is a user of the plan "free".
var ana = core.Identity{Key: "key_ana", Tier: "free"}
