package redisstore

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
)

func miniClient(t *testing.T) rueidis.Client {
	t.Helper()
	client, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{miniredis.RunT(t).Addr()}, DisableCache: true, ForceSingleClient: true, AlwaysPipelining: true,
	})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

// TestABatchIsWhatItsChargesWouldBeOneByOne on random costs, between which time
// goes on and back, and the bucket is spoilt.
func TestABatchIsWhatItsChargesWouldBeOneByOne(t *testing.T) {
	t.Parallel()
	client, clock := miniClient(t), fakeclock.New(time.UnixMicro(1_789_012_345_678_901))
	s := New(client, WithClock(clock), WithTimeout(time.Minute))
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 400 {
		set := s.sets.of(core.Per(1+random.IntN(50), time.Minute).WithBurst(1 + random.IntN(40)).Limits())
		batch := &lane{call: call{key: [1]string{fmt.Sprint("batch", round%7)}}, set: set}
		alone := fmt.Sprint("alone", round%7)
		if random.IntN(20) == 0 {
			for _, key := range []string{batch.key[0], alone} {
				require.NoError(t, client.Do(t.Context(), client.B().Set().Key(key).Value("x").Build()).Error())
			}
		}
		clock.Advance(time.Duration(random.IntN(20_000_000)-2_000_000) * time.Microsecond)
		queued := make([]*rider, 1+random.IntN(30))
		for i := range queued {
			queued[i] = batch.enqueue(t.Context(), []int64{1, 1, 1, 2, 5, 41, 1 << 53}[random.IntN(7)])
		}
		s.carry(batch, client)
		for i, r := range queued {
			a := <-r.answer
			require.NoError(t, a.err)
			want, err := s.integer(t.Context(), gcraScript, alone, s.withNow(set.chargeArgs(r.cost)))
			require.NoError(t, err)
			require.Equal(t, want, a.debt, "round %d, charge %d of %d", round, i, r.cost)
		}
		kept := func(key string) string {
			text, _ := client.Do(t.Context(), client.B().Get().Key(key).Build()).ToString()
			return text
		}
		require.Equal(t, kept(alone), kept(batch.key[0]))
	}
}

func TestWhoCameFirstIsJudgedFirst(t *testing.T) {
	t.Parallel()
	l := &lane{}
	for cost := range int64(5) {
		require.NotNil(t, l.enqueue(t.Context(), cost))
	}
	l.queue.Load().ahead.state.Store(left) // the one that came last but one
	var order []int64
	for _, r := range l.board() {
		order = append(order, r.cost)
	}
	require.Equal(t, []int64{0, 1, 2, 4}, order)
	require.Nil(t, l.queue.Load())
	l.queue.Store(gone)
	require.Nil(t, l.enqueue(t.Context(), 1), "nothing is under way")
}

// TestOnePlaceHoldsOneLane: a bucket whose place is taken goes alone.
func TestOnePlaceHoldsOneLane(t *testing.T) {
	t.Parallel()
	client := miniClient(t)
	s := New(client, WithTimeout(time.Minute), WithMaxInFlight(1000))
	limits := core.Per(1, time.Hour).WithBurst(100).Limits()
	place := func(i int) any { return s.lanes.place(s.RedisKey(core.Key{ID: strconv.Itoa(i)}, limits)) }
	twin := 1
	for place(twin) != place(0) {
		twin++
	}
	var allowed [2]int64
	var mu sync.Mutex
	var all sync.WaitGroup
	for worker := range 40 {
		all.Go(func() {
			for range 10 {
				who := worker % 2
				res, err := s.Take(t.Context(), core.Request{Key: core.Key{ID: strconv.Itoa(who * twin)}, Limits: limits, Cost: 1})
				mu.Lock()
				if err == nil && res.Allowed {
					allowed[who]++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	require.Equal(t, [2]int64{100, 100}, allowed)
	require.Eventually(t, func() bool { return s.lanes.place(s.RedisKey(core.Key{ID: "0"}, limits)).Load() == nil }, 10*time.Second, time.Millisecond)
}
