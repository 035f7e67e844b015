package storetest

import (
	"context"
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
		return preparing{o(tb, c)}
	}).parts(t)
}

// preparing is a Preparer that is asked as a limiter asks it.
type preparing struct{ core.Store }

func (s preparing) Take(ctx context.Context, r core.Request) (core.Result, error) {
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
func (s preparing) short(r core.Request) core.Prepared {
	p, ok := s.Store.(core.Preparer)
	if !ok || len(r.Limits) != 1 || r.Mode != core.Charge || r.Cost < 0 || r.Cost > r.Limits[0].Burst {
		return nil
	}
	return p.Prepare(s.Store, r.Key.Tier, r.Limits[0])
}
