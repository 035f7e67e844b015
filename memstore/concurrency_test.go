package memstore_test

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/memstore"
)

func TestAtOnceExactlyTheBurstPasses(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string][]core.Limit{
		"gcra":    core.PerMinute(50).Limits(),
		"fixed":   core.PerMinute(50).Using(core.FixedWindow).Limits(),
		"log":     core.PerMinute(50).Using(core.SlidingLog).Limits(),
		"windows": core.PerMinute(50).And(core.PerDay(1000)).Limits(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for round := range 5 {
				s, _ := open()
				var admitted atomic.Int64
				together(1000, func(int) {
					if charge(s, user(round), limits, 1).Allowed {
						admitted.Add(1)
					}
				})
				require.Equal(t, int64(50), admitted.Load())
				require.Equal(t, 1, s.Len())
				require.Zero(t, look(s, user(round), limits).Levels[0].Remaining)
			}
		})
	}
}

// TestHittersOfOneKeyLoseNothing: all hit one key as fast as they can. Whoever
// is not alone resets a neighbour now and then, so that their small table is
// rebuilt all the time and many have to go to the lock.
func TestHittersOfOneKeyLoseNothing(t *testing.T) { //nolint:paralleltest // only with all cores to itself do hitters really meet
	const workers = 4
	for _, alone := range []bool{true, false} {
		for name, limits := range map[string][]core.Limit{
			"gcra":    core.Per(1, time.Hour).WithBurst(1 << 20).Limits(),
			"windows": core.Per(1, time.Hour).WithBurst(1 << 20).And(core.PerDay(1 << 20).Using(core.FixedWindow)).Limits(),
		} {
			s, _ := open(memstore.WithMaxKeys(1000)) // one shard
			var charged atomic.Int64
			each := scaled(200_000)
			together(workers, func(worker int) {
				own, key := int64(0), user(-1)
				neighbours := [64]core.Key{}
				for i := range neighbours {
					neighbours[i] = user(worker*64 + i)
				}
				for i := range each {
					if charge(s, key, limits, 1).Allowed {
						own++
					}
					if !alone && i%4 == 0 {
						neighbour := neighbours[i/4%64]
						charge(s, neighbour, limits, 1)
						if i/256%2 == 0 {
							require.NoError(t, s.Reset(t.Context(), neighbour, limits))
						}
					}
				}
				charged.Add(own)
			})
			require.Equal(t, int64(workers*each), charged.Load())
			require.Equal(t, 1<<20-workers*each, look(s, user(-1), limits).Levels[0].Remaining, "%s, alone: %v", name, alone)
		}
	}
}

// storm is what many goroutines do to one store at once.
type storm struct {
	s       *memstore.Store
	limits  []core.Limit // of the keys that are counted
	granted [40]atomic.Int64
}

// step does one thing to a counted key, and notes what was granted.
func (m *storm) step(random *rand.Rand) {
	i := random.IntN(len(m.granted))
	key := user(i)
	switch random.IntN(8) {
	case 0:
		m.granted[i].Add(int64(force(m.s, key, m.limits, 3).Charged))
	case 1: // gives back what is its own
		if charge(m.s, key, m.limits, 2).Allowed {
			force(m.s, key, m.limits, -2)
		}
	case 2:
		look(m.s, key, m.limits)
	default:
		if cost := 1 + random.IntN(2); charge(m.s, key, m.limits, cost).Allowed {
			m.granted[i].Add(int64(cost))
		}
	}
}

// check holds what was granted of every counted key against what is left.
func (m *storm) check(t *testing.T) {
	t.Helper()
	for i := range m.granted {
		left := look(m.s, user(i), m.limits).Levels[0].Remaining
		require.Equal(t, m.limits[0].Count, int(m.granted[i].Load())+left, "key %d", i)
	}
}

// counted are windows that give nothing back for minutes.
func counted() map[string][]core.Limit {
	return map[string][]core.Limit{
		"gcra":    core.PerDay(200).Limits(),
		"fixed":   core.PerDay(200).Using(core.FixedWindow).Limits(),
		"log":     core.PerDay(200).Using(core.SlidingLog).Limits(),
		"windows": core.PerDay(200).And(core.PerDay(100_000).Using(core.SlidingLog)).Limits(),
	}
}

// TestNoChargeIsLostWhileOthersComeAndGo: others insert, run out, are swept and
// reset, so that tables grow, shrink and are cleaned under the hitters' hands.
func TestNoChargeIsLostWhileOthersComeAndGo(t *testing.T) {
	t.Parallel()
	short := [][]core.Limit{
		core.Per(10, 10*time.Millisecond).Limits(),
		core.Per(10, 10*time.Millisecond).Limits(),
		core.Per(10, 10*time.Millisecond).Using(core.FixedWindow).Limits(),
		core.Per(10, 10*time.Millisecond).And(core.Per(3, time.Millisecond)).Limits(),
	}
	for name, limits := range counted() {
		for seed := range uint64(3) {
			s, clock := open(memstore.WithMaxKeys(4000)) // one shard or two: more to collide
			m := &storm{s: s, limits: limits}
			together(6, func(worker int) {
				random := rand.New(rand.NewPCG(seed, uint64(worker)))
				for step := range scaled(20_000) {
					other := user(1000 + worker*100 + random.IntN(1+step/2000%2*99))
					switch random.IntN(8) {
					case 0:
						require.NoError(t, s.Reset(t.Context(), other, short[random.IntN(len(short))]))
					case 1, 2, 3, 4:
						charge(s, other, short[random.IntN(len(short))], 1)
					default:
						m.step(random)
					}
					if worker == 0 && step%100 == 0 {
						clock.Advance(300 * time.Microsecond)
					}
				}
			})
			require.Zero(t, s.Evicted(), name)
			m.check(t)
		}
	}
}

// TestNoChargeIsLostWhileOthersArePushedOut: the counted keys are exhausted, so
// the flood pushes out one another and nobody else.
func TestNoChargeIsLostWhileOthersArePushedOut(t *testing.T) {
	t.Parallel()
	for name, limits := range counted() {
		s, _ := open(memstore.WithMaxKeys(400))
		for i := range 20 {
			force(s, user(i), limits, limits[0].Count)
		}
		var admitted atomic.Int64
		together(4, func(worker int) {
			for i := range scaled(30_000) {
				charge(s, user(1000+worker*100_000+i), limits, 1)
				if charge(s, user(i%20), limits, 1).Allowed {
					admitted.Add(1)
				}
			}
		})
		require.Zero(t, admitted.Load(), name)
		require.LessOrEqual(t, s.Len(), 400)
	}
}

// TestAFreshBucketIsMadeOnce: a key that comes, is reset and comes again is
// never two buckets at once.
func TestAFreshBucketIsMadeOnce(t *testing.T) {
	t.Parallel()
	for name, limits := range counted() {
		s, _ := open(memstore.WithMaxKeys(100))
		var admitted, resets atomic.Int64
		together(6, func(worker int) {
			random := rand.New(rand.NewPCG(5, uint64(worker)))
			for range scaled(30_000) {
				if random.IntN(300) == 0 {
					require.NoError(t, s.Reset(t.Context(), user(0), limits))
					resets.Add(1)
				} else if charge(s, user(0), limits, 1).Allowed {
					admitted.Add(1)
				}
				if held := s.Len(); held > 1 {
					require.LessOrEqual(t, held, 1)
				}
			}
		})
		require.LessOrEqual(t, admitted.Load(), 200*(resets.Load()+1), name)
	}
}

// TestAClockThatStandsStillAdmitsTheBurstOfEveryKey: many goroutines over many
// keys while the tables grow under them.
func TestAClockThatStandsStillAdmitsTheBurstOfEveryKey(t *testing.T) {
	t.Parallel()
	const keys = 3000
	limits := core.PerMinute(3).Limits()
	windows := core.PerMinute(3).And(core.PerDay(3).Using(core.SlidingLog)).Limits()
	for round := range 2 {
		s, _ := open()
		var admitted, both [keys]atomic.Int32
		together(5, func(worker int) {
			random := rand.New(rand.NewPCG(9, uint64(worker)))
			order := random.Perm(keys)
			for at := range keys {
				i := at // all meet at the same new key
				if round > 0 {
					i = order[at]
				}
				for range 2 {
					if charge(s, user(i), limits, 1).Allowed {
						admitted[i].Add(1)
					}
					if charge(s, user(i), windows, 1).Allowed {
						both[i].Add(1)
					}
				}
			}
		})
		for i := range keys {
			require.Equal(t, int32(3), admitted[i].Load(), "key %d", i)
			require.Equal(t, int32(3), both[i].Load(), "key %d", i)
		}
		require.Equal(t, 2*keys, s.Len())
	}
}
