package denystore_test

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// severalQuotas are of each algorithm, narrow and wide, and together.
var severalQuotas = []core.Quota{
	core.PerMinute(10),
	core.PerSecond(2),
	core.PerSecond(20).WithBurst(40),
	core.PerSecond(3).WithBurst(7),
	core.PerSecond(200).WithBurst(3),
	core.PerSecond(20).And(core.PerMinute(90)),
	core.PerSecond(5).Using(core.FixedWindow),
	core.Per(9, 4*time.Second).Using(core.SlidingLog),
	core.PerSecond(5).And(core.Per(30, 20*time.Second).Using(core.FixedWindow)),
}

// TestManyAtOnceAreRefusedOnlyWhatDoesNotFit: many ask at the same moment, at
// random moments. Nothing gives back within one, so what did not fit at any time
// of it does not fit at its end: whoever was refused from memory is asked about
// then. And whatever fits is let in, beside a bare store to the unit.
func TestManyAtOnceAreRefusedOnlyWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	const callers = 16
	for seed, quota := range severalQuotas {
		for _, cost := range []int{1, 2} {
			rng := rand.New(rand.NewPCG(uint64(seed), uint64(cost)))
			c, limits := newCached(), quota.Limits()
			c.next.Store = newReference(c.clock)
			bare := newReference(c.clock)
			fromMemory := 0
			var wait time.Duration
			for step := range 300 {
				c.clock.Advance(randomStep(rng, wait))
				r := core.Request{Key: ana, Limits: limits, Cost: cost}
				if rng.IntN(25) == 0 { // between two moments somebody gives back
					back := r
					back.Mode, back.Cost = core.Force, -1-rng.IntN(3)
					require.Equal(t, take(t, bare, back), take(t, c, back))
				}
				var allowed, remembered atomic.Int64
				together(callers, func(int) {
					switch res := take(t, c, r); {
					case res.Allowed:
						allowed.Add(1)
					case res.Now.IsZero():
						remembered.Add(1)
					}
				})
				fits := 0
				for range callers {
					if take(t, bare, r).Allowed {
						fits++
					}
				}
				name := fmt.Sprintf("%s, cost %d, step %d", quota, cost, step)
				require.Equal(t, int64(fits), allowed.Load(), name)
				look := r
				look.Mode = core.Look
				stands := take(t, c.next.Store, look)
				require.Equal(t, take(t, bare, look), stands, name)
				if remembered.Load() > 0 {
					fromMemory++
					require.False(t, stands.Allowed, name)
				}
				wait = max(stands.Levels[0].RetryAfter, stands.Levels[1].RetryAfter)
			}
			require.Greater(t, fromMemory, 100, "%s: or it proves nothing", quota)
		}
	}
}

// randomStep is often just until something fits, or a moment around that.
func randomStep(rng *rand.Rand, wait time.Duration) time.Duration {
	switch rng.IntN(6) {
	case 0:
		return wait
	case 1:
		return max(wait-time.Microsecond, 0)
	case 2:
		return wait + time.Duration(rng.Int64N(int64(2*time.Second)))
	case 3:
		return time.Duration(rng.Int64N(int64(100 * time.Millisecond)))
	case 4:
		return wait + time.Microsecond
	default:
		return 0
	}
}

// TestAfterAnyMixOfPricesNothingIsRefusedForLonger: prices, give-backs, undone
// raises and others' charges at once. Once nobody asks any more, the store's
// answer is that of the cache, but for what others gave back, which there is
// none of.
func TestAfterAnyMixOfPricesNothingIsRefusedForLonger(t *testing.T) {
	t.Parallel()
	for seed, quota := range []core.Quota{
		core.PerMinute(10),
		core.PerSecond(20).WithBurst(15),
		core.PerSecond(9).And(core.PerMinute(60)),
		core.PerSecond(12).And(core.Per(30, 4*time.Second).Using(core.FixedWindow)),
	} {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		c, limits := newCached(), quota.Limits()
		c.next.Store = newReference(c.clock)
		for step := range 500 {
			c.clock.Advance(randomStep(rng, 100*time.Millisecond))
			kinds := rng.Perm(12)
			together(len(kinds), func(i int) {
				r := core.Request{Key: ana, Limits: limits, Cost: 1 + kinds[i]%4}
				switch kinds[i] {
				case 8:
					r.Mode, r.Cost = core.Force, -2
				case 9:
					r.Mode, r.Cost, r.Undo = core.Force, -1, true
				case 10:
					r.Mode = core.Force
				case 11: // another instance's
					take(t, c.next.Store, r)
					return
				}
				take(t, c, r)
			})
			for cost := 5; cost > 0; cost-- {
				look := core.Request{Key: ana, Limits: limits, Cost: cost, Mode: core.Look}
				fits := take(t, c.next.Store, look).Allowed
				got := charge(t, c, limits, cost)
				require.Equal(t, fits, got.Allowed, "%s, step %d, cost %d", quota, step, cost)
				if fits {
					take(t, c, core.Request{Key: ana, Limits: limits, Cost: -cost, Mode: core.Force})
				}
			}
		}
	}
}
