package memstore_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/memstore"
)

func TestTheBoundOfKeysIsExact(t *testing.T) {
	t.Parallel()
	limits := core.PerMinute(10).Limits()
	for _, n := range []int{1, 2, 7, 1000, 2048, 5000, 100_000} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			s, _ := open(memstore.WithMaxKeys(n))
			for i := range n {
				charge(s, user(i), limits, 1)
				if s.Len() != i+1 {
					require.Equal(t, i+1, s.Len())
				}
			}
			require.Zero(t, s.Evicted(), "%d keys fit", n)
			for i := range n {
				if look(s, user(i), limits).Levels[0].Remaining != 9 {
					require.Failf(t, "lost", "key %d", i)
				}
			}
			for i := range min(2*n, scaled(100_000)) + 10 {
				charge(s, user(n+i), limits, 1)
				if s.Len() != n || s.Evicted() != i+1 || look(s, user(n+i), limits).Levels[0].Remaining != 9 {
					require.Failf(t, "wrong", "%d held, %d evicted after %d more", s.Len(), s.Evicted(), i+1)
				}
			}
		})
	}
}

func TestAllKindsOfKeysShareOneBound(t *testing.T) {
	t.Parallel()
	all := kinds()
	for _, n := range []int{1, 2, 7, 100, 2500} {
		s, _ := open(memstore.WithMaxKeys(n))
		for i := range 3*n + 200 {
			for _, limits := range all {
				charge(s, user(i), limits, 1+i%3)
				if s.Len() > n {
					require.LessOrEqual(t, s.Len(), n)
				}
			}
		}
		require.Equal(t, n, s.Len())
		require.Equal(t, 4*(3*n+200)-n, s.Evicted())
	}
}

func TestWhatHasRunOutGoesFirstAndIsNotCountedAsEvicted(t *testing.T) {
	t.Parallel()
	s, clock := open(memstore.WithMaxKeys(10)) // a sample sees them all
	short, long := core.PerMinute(10).Limits(), core.PerDay(10).Limits()
	for i := range 5 {
		charge(s, user(i), short, 10) // exhausted ones too
	}
	for i := range 5 {
		charge(s, user(100+i), long, 1)
	}
	clock.Advance(time.Minute)
	for i := range 5 {
		charge(s, user(200+i), long, 1)
	}
	require.Zero(t, s.Evicted())
	for i := range 5 {
		require.Equal(t, 9, look(s, user(100+i), long).Levels[0].Remaining)
	}
	charge(s, user(300), long, 1)
	require.Equal(t, 1, s.Evicted())
}

func TestTheFullestGoesFirst(t *testing.T) {
	t.Parallel()
	s, _ := open(memstore.WithMaxKeys(10))
	limits := core.PerMinute(20).Limits()
	for i := range 10 {
		charge(s, user(i), limits, 2+i)
	}
	for i := range 5 { // each pushes out the one before, or the fullest of the ten
		charge(s, user(100+i), limits, 15)
	}
	for i := range 10 {
		remaining := look(s, user(i), limits).Levels[0].Remaining
		if i < 5 {
			require.Equal(t, 20, remaining, "key %d was among the fullest", i)
		} else {
			require.Equal(t, 18-i, remaining)
		}
	}
}

func TestAFloodDoesNotFreeWhoIsOverTheLimit(t *testing.T) {
	t.Parallel()
	for name, limits := range kinds() {
		for _, n := range []int{2, 7, 1000, 5000} {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				t.Parallel()
				s, _ := open(memstore.WithMaxKeys(n))
				victim := core.Key{Tier: "pro", ID: "over its limit"}
				require.True(t, charge(s, victim, limits, 10).Allowed)
				flood := max(scaled(20_000), n+1000)
				if name == "gcra" && n == 1000 {
					flood = scaled(1_000_000)
				}
				for i := range flood {
					charge(s, user(i), limits, 1)
					if i%1000 == 0 {
						require.False(t, charge(s, victim, limits, 1).Allowed)
					}
				}
				require.False(t, charge(s, victim, limits, 1).Allowed)
				require.Equal(t, n, s.Len())
			})
		}
	}
}

func TestAnExhaustedKeyGoesWhenThereIsNoOther(t *testing.T) {
	t.Parallel()
	for name, limits := range kinds() {
		s, _ := open(memstore.WithMaxKeys(3))
		for i := range 3 {
			charge(s, user(i), limits, 10)
		}
		require.True(t, charge(s, user(3), limits, 1).Allowed, name)
		require.Equal(t, 3, s.Len())
		require.Equal(t, 1, s.Evicted())
		over := 0
		for i := range 3 {
			if !look(s, user(i), limits).Allowed {
				over++
			}
		}
		require.Equal(t, 2, over, name)
		charge(s, user(4), limits, 1)
		require.Equal(t, 10, look(s, user(3), limits).Levels[0].Remaining, "%s: and then it is not exhausted ones", name)
	}
}

func TestWhoWasGivenBackIsExhaustedNoMore(t *testing.T) {
	t.Parallel()
	for name, limits := range kinds() {
		s, _ := open(memstore.WithMaxKeys(2))
		charge(s, user(0), limits, 10)
		charge(s, user(1), limits, 10)
		force(s, user(1), limits, -2)
		charge(s, user(2), limits, 1)
		require.False(t, look(s, user(0), limits).Allowed, name)
		require.Equal(t, 10, look(s, user(1), limits).Levels[0].Remaining, name)
	}
}

func TestEndlesslyManyKeysCostBoundedMemory(t *testing.T) { //nolint:paralleltest // measures the heap
	const n = 100_000
	limits := core.PerMinute(10).Limits()
	s, _ := open(memstore.WithMaxKeys(n))
	before := heap()
	count := scaled(2_000_000)
	for i := range count {
		charge(s, user(i), limits, 1)
	}
	require.Less(t, heap()-before, int64(64*n))
	require.Equal(t, n, s.Len())
	require.Equal(t, count-n, s.Evicted())
}

func TestInsertsAtOnceKeepTheBound(t *testing.T) {
	t.Parallel()
	all := kinds()
	for _, n := range []int{1, 7, 1000, 5000} {
		s, _ := open(memstore.WithMaxKeys(n))
		const workers = 8
		each := max(scaled(12_000), n/workers*2) / 4 * 4
		together(workers, func(worker int) {
			i := 0
			for range each / 4 {
				for _, limits := range all {
					charge(s, user(worker*each+i), limits, 1)
					i++
					if held := s.Len(); held > n+workers { // each may just be making room
						require.LessOrEqual(t, held, n+workers)
					}
				}
			}
		})
		require.LessOrEqual(t, s.Len(), n)
		require.GreaterOrEqual(t, s.Len(), min(n, max(n-workers, 0)))
		require.GreaterOrEqual(t, s.Evicted(), workers*each-n)
		for i := range 10 { // and it still works to the unit
			require.Equal(t, 9, charge(s, user(-1-i), all["gcra"], 1).Levels[0].Remaining)
			require.LessOrEqual(t, s.Len(), n)
		}
	}
}
