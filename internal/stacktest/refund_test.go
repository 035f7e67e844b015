package stacktest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/stacktest"
)

func failed(status int) bool { return status >= 500 }

func TestRefund(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		l := limitAs(w.limiter, ana)
		l.Refund = failed
		h := s.Build(stacktest.Service{Use: layers(limitAs(w.limiter, bea), l), Routes: routes(
			route("/200", ok),
			route("/silent", func(*stacktest.Call) error { return nil }),
			route("/404", func(c *stacktest.Call) error { return c.Text(404, "x") }),
			route("/502", func(c *stacktest.Call) error { return c.Text(502, "x") }),
			route("/set", func(c *stacktest.Call) error { c.SetCost(6); return c.Text(502, "x") }),
			route("/setok", func(c *stacktest.Call) error { c.SetCost(6); return c.Text(200, "x") }),
			route("/cost", func(c *stacktest.Call) error { return c.Text(500, "x") }, stacktest.Cost(6)),
			route("/panic", func(*stacktest.Call) error { panic("boom") }),
			route("/panic200", func(c *stacktest.Call) error { _ = c.Text(200, "x"); panic("boom") }),
			route("/err404", func(*stacktest.Call) error { return stacktest.StatusError(404) }),
			route("/err503", func(*stacktest.Call) error { return stacktest.StatusError(503) }),
			route("/err", func(*stacktest.Call) error { return errors.New("x") }),
			route("/dear", ok, stacktest.Cost(11)),
		)})
		for _, step := range []struct {
			path             string
			status, ana, bea int
		}{
			{"/200", 200, 9, 99},
			{"/silent", 200, 9, 99},
			{"/404", 404, 9, 99},
			{"/502", 502, 10, 99},
			{"/set", 502, 10, 94},
			{"/setok", 200, 4, 94},
			{"/cost", 500, 10, 94},
			{"/panic", 0, 10, 99},
			{"/panic200", 0, 10, 99},
			{"/err404", 404, 9, 99},
			{"/err503", 503, 10, 99},
			{"/err", 500, 10, 99},
			{"/dear", 403, 10, 100},
			{"/nowhere", 404, 9, 99},
		} {
			if step.status == 0 {
				require.PanicsWithValue(t, "boom", func() { get(h, step.path) }, step.path)
			} else {
				require.Equal(t, step.status, get(h, step.path).Status, step.path)
			}
			require.Equal(t, []int{step.ana, step.bea}, []int{w.left(ana), w.left(bea)}, step.path)
			w.clock.Advance(time.Minute)
		}
	})
}

// A refusal is no answer of the handlers: nothing is left to refund.
func TestRefundOfARefusalInventsNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		l := limitAs(w.limiter, ana)
		l.Refund = func(status int) bool { return status >= 400 }
		h := s.Build(stacktest.Service{Use: layers(l), Routes: routes(route("/x", ok), route("/dear", ok, stacktest.Cost(8)))})
		for range 7 {
			get(h, "/x")
		}
		for range 4 {
			require.Equal(t, 429, get(h, "/dear").Status)
			require.Equal(t, 3, w.left(ana))
		}
	})
}

// What was charged long ago is not given back: time has done so.
func TestRefundOfALongRequestInventsNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		l := limitAs(w.limiter, ana)
		l.Refund = failed
		h := s.Build(stacktest.Service{Use: layers(l), Routes: routes(route("/x", func(c *stacktest.Call) error {
			w.clock.Advance(61 * time.Second)
			w.limiter.Take(t.Context(), ana, 10)
			return c.Text(500, "x")
		}))})
		require.Equal(t, 500, get(h, "/x").Status)
		require.Zero(t, w.left(ana))
	})
}
