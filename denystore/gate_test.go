package denystore_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/denystore"
	"github.com/tierlimit/tierlimit/fakeclock"
)

// gated is a deny store over one whose every step a test decides, within a
// [synctest] bubble: when it judges a request, and when and how it answers.
type gated struct {
	*denystore.Store

	next  gate
	clock *fakeclock.Clock
}

func newGated(opts ...denystore.Option) gated {
	clock := fakeclock.New(time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC))
	next := gate{newReference(clock)}
	return gated{denystore.New(next, append([]denystore.Option{denystore.WithClock(clock)}, opts...)...), next, clock}
}

// fate is what becomes of an answer.
type fate string

const (
	arrives fate = "arrives"
	fails   fate = "fails"
	hangsUp fate = "hangs up"
	panics  fate = "panics"
)

// held is a request that waits until it is judged, and then until it is answered.
type held struct {
	core.Request

	asked, judged, done bool
	res                 core.Result
	err                 error

	turn   chan struct{}
	answer chan fate
	hangUp context.CancelFunc
}

type heldKey struct{}

// begin sends a request, and goes on once the store is asked or the answer is
// there.
func (g gated) begin(r core.Request) *held {
	ctx, cancel := context.WithCancel(context.Background())
	h := &held{Request: r, turn: make(chan struct{}), answer: make(chan fate), hangUp: cancel}
	ctx = context.WithValue(ctx, heldKey{}, h)
	go func() {
		defer func() {
			if v := recover(); v != nil && v != panics {
				panic(v)
			}
			h.done = true
			cancel()
		}()
		h.res, h.err = g.Take(ctx, r)
	}()
	synctest.Wait()
	return h
}

// charge begins a charge of ana's.
func (g gated) charge(limits []core.Limit, cost int) *held {
	return g.begin(core.Request{Key: ana, Limits: limits, Cost: cost})
}

// judge has the store do it.
func (h *held) judge() {
	h.turn <- struct{}{}
	synctest.Wait()
}

// end has the answer get to its caller, or what else becomes of it.
func (h *held) end(f fate) {
	if !h.judged {
		h.judge()
	}
	h.answer <- f
	synctest.Wait()
}

// exhaust spends all that ana has, and has her refused twice.
func (g gated) exhaust(tb testing.TB, limits []core.Limit) {
	tb.Helper()
	cached{Store: g.Store}.exhaust(tb, limits)
	charge(tb, g, limits, 1)
}

// look is what the store would say now.
func (g gated) look(limits []core.Limit, cost int) core.Result {
	res, _ := g.next.reference.Take(context.Background(), core.Request{Key: ana, Limits: limits, Cost: cost, Mode: core.Look})
	return res
}

// gate is the store that is asked. What is not held it answers at once.
type gate struct{ *reference }

func (g gate) Take(ctx context.Context, r core.Request) (core.Result, error) {
	h, ok := ctx.Value(heldKey{}).(*held)
	if !ok {
		return g.reference.Take(ctx, r)
	}
	h.asked = true
	<-h.turn
	res, err := g.reference.Take(ctx, r)
	h.judged = true
	switch f := <-h.answer; f {
	case fails:
		return core.Result{}, errAway
	case hangsUp:
		h.hangUp()
		return core.Result{}, ctx.Err()
	case panics:
		panic(f)
	case arrives:
	}
	return res, err
}
