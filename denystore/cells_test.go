package denystore_test

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/denystore"
)

// TestCallersWhoPushEachOtherOutAreRefusedOnlyWhatDoesNotFit: nine callers in four
// cells, with prices, corrections and another instance, all at once. Once nobody
// asks any more, each is answered as the store would.
func TestCallersWhoPushEachOtherOutAreRefusedOnlyWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	const callers = 9
	for seed, quota := range []core.Quota{
		core.PerSecond(3).WithBurst(5),
		core.PerSecond(20).And(core.PerMinute(90)),
		core.PerSecond(5).Using(core.FixedWindow),
		core.Per(9, 4*time.Second).Using(core.SlidingLog),
	} {
		rng := rand.New(rand.NewPCG(uint64(seed), 5))
		c, limits := newCached(denystore.WithMaxKeys(4)), quota.Limits()
		c.next.Store = newReference(c.clock)
		request := func(caller int) core.Request {
			return core.Request{Key: core.Key{Tier: "free", ID: strconv.Itoa(caller)}, Limits: limits}
		}
		for step := range 100 {
			c.clock.Advance(randomStep(rng, 300*time.Millisecond))
			together(12, func(i int) {
				for j := range 12 {
					r := request((i*7 + j*step) % callers)
					r.Cost = 1 + (i+j+step)%3
					if !c.disturb((i*31+j*17+step)%40, r) {
						take(t, c, r)
					}
				}
			})
			for caller := range callers {
				for cost := 4; cost > 0; cost-- {
					r := request(caller)
					r.Cost = cost
					look := r
					look.Mode = core.Look
					fits := take(t, c.next.Store, look).Allowed
					require.Equal(t, fits, take(t, c, r).Allowed, "%s, step %d, caller %d, cost %d", quota, step, caller, cost)
					if fits {
						r.Mode, r.Cost = core.Force, -cost
						take(t, c, r)
					}
				}
			}
		}
	}
}

// disturb does something else than r for a few of kind, and tells whether it did.
func (c cached) disturb(kind int, r core.Request) bool {
	var s core.Store = c
	switch kind {
	case 0:
		r.Mode, r.Cost = core.Force, -2
	case 1:
		r.Mode, r.Cost, r.Undo = core.Force, -1, true
	case 2:
		r.Mode = core.Force
	case 3:
		return c.Reset(context.Background(), r.Key, r.Limits) == nil
	case 4:
		s = c.next.Store // another instance's charge
	default:
		return false
	}
	_, err := s.Take(context.Background(), r)
	return err == nil
}
