package storetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
)

// prepared asks everything again, in the short way wherever a limiter would. It
// does nothing to a store that is no core.Preparer.
func (o opener) prepared(t *testing.T) {
	store := o.open(t).store
	if _, ok := store.(core.Preparer); !ok {
		return
	}
	t.Run("embedded", func(t *testing.T) {
		type other struct{ core.Store }
		p, _ := store.(core.Preparer)
		require.Nil(t, p.Prepare(other{store}, "pro", gcra(5, time.Minute)),
			"Prepare: asked is another store, whose own Take must not be passed over")
	})
	opener(func(tb testing.TB, c *fakeclock.Clock) core.Store {
		tb.Helper()
		return &preparing{Store: o(tb, c), ready: map[usual]core.Prepared{}}
	}).parts(t)
}

// preparing is a Preparer that is asked as a limiter asks it: once for each limit
// of a tier, and then by all callers at once.
type preparing struct {
	core.Store

	mu    sync.Mutex
	ready map[usual]core.Prepared
}

// usual is what is made ready.
type usual struct {
	tier  string
	limit core.Limit
}

func (s *preparing) Take(ctx context.Context, r core.Request) (core.Result, error) {
	charge := s.short(r)
	if charge == nil {
		return s.Store.Take(ctx, r) //nolint:wrapcheck // a decorator hands on what it is given
	}
	var res core.Result
	res.Levels[0], res.Now, res.Allowed = charge(r.Key.Scope, r.Key.ID, r.Key.Anonymous, r.Cost)
	if res.Allowed {
		res.Charged = r.Cost
	}
	return res, nil
}

// short is the short way for r; nil where a limiter takes the long one.
func (s *preparing) short(r core.Request) core.Prepared {
	p, ok := s.Store.(core.Preparer)
	if !ok || len(r.Limits) != 1 || r.Limits[0].Algorithm != core.GCRA || r.Mode != core.Charge {
		return nil
	}
	if r.Cost < 0 || r.Cost > r.Limits[0].Burst {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u := usual{r.Key.Tier, r.Limits[0]}
	charge, ok := s.ready[u]
	if !ok {
		charge = p.Prepare(s.Store, u.tier, u.limit)
		s.ready[u] = charge
	}
	return charge
}
