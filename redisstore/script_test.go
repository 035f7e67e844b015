package redisstore_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// endless are windows that no test uses up and that give nothing back meanwhile.
func endless() map[string][]core.Limit {
	many := 1 << 20
	return map[string][]core.Limit{
		"lone":  core.Per(many, eon).Limits(),
		"two":   core.Per(many, eon).And(core.Per(many, 2*eon)).Limits(),
		"fixed": core.Per(many, eon).Using(core.FixedWindow).Limits(),
		"log":   core.Per(many, eon).Using(core.SlidingLog).Limits(),
	}
}

// oneConnection is a client's option for tests of what happens to the connection.
func oneConnection(o *rueidis.ClientOption) { o.PipelineMultiplex = -1 }

func spent(tb testing.TB, s core.Store, limits []core.Limit) int {
	tb.Helper()
	return limits[0].Burst - look(tb, s, user(1), limits).Levels[0].Remaining
}

func TestAnEmptiedScriptCacheIsInvisible(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r anyRedis) {
		t.Helper()
		for name, limits := range endless() {
			s := r.store(redisstore.WithPrefix(name + ":"))
			load := run(t, 20, func(int, int) error {
				_, err := s.Take(t.Context(), core.Request{Key: user(1), Limits: limits, Cost: 1})
				return err
			}, func(err error) { assert.NoError(t, err) })
			for range 20 {
				r.do(t, "SCRIPT", "FLUSH")
				load.goOn(t, 20)
			}
			load.stop()
			require.EqualValues(t, load.answered.Load(), spent(t, s, limits), "%s: each check is charged once", name)
		}
	})
}

func TestACheckWhoseReplyIsLostIsExecutedOnce(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	direct := anyRedis{server.Client(t), true}.store()
	for name, limits := range endless() {
		proxy := redistest.NewProxy(t, server.Addr())
		s := redisstore.New(server.Client(t, redistest.Through(proxy), oneConnection), redisstore.WithTimeout(500*time.Millisecond))
		charge(t, s, user(1), limits, 3)
		require.Equal(t, 3, spent(t, direct, limits), name)
		q := core.Request{Key: user(1), Limits: limits, Cost: 1}

		proxy.DropReplies(true)
		began := time.Now()
		_, err := s.Take(t.Context(), q)
		require.ErrorIs(t, err, redisstore.ErrTimeout, name)
		require.Less(t, time.Since(began), 5*time.Second, name)
		require.Equal(t, 4, spent(t, direct, limits), "%s: charged once, whoever heard of it", name)

		proxy.Heal()
		redistest.Wait(t, patient, "a connection", func() error {
			_, err := s.Take(t.Context(), core.Request{Key: user(2), Limits: limits, Cost: 1})
			return err
		})
		require.Equal(t, 4, spent(t, direct, limits), "%s: nothing is repeated", name)
	}
}

// TestACheckWhoseConnectionBreaksIsExecutedOnce cuts while the reply is under way.
func TestACheckWhoseConnectionBreaksIsExecutedOnce(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	direct := anyRedis{server.Client(t), true}.store()
	proxy := redistest.NewProxy(t, server.Addr())
	s := anyRedis{server.Client(t, redistest.Through(proxy), oneConnection), true}.store()
	limits := endless()["lone"]
	charge(t, s, user(1), limits, 4)
	for i := range 3 {
		proxy.Delay(time.Minute)
		failed := make(chan error)
		go func() {
			_, err := s.Take(t.Context(), core.Request{Key: user(1), Limits: limits, Cost: 1})
			failed <- err
		}()
		redistest.Wait(t, patient, "the check to be executed", func() error {
			if n := spent(t, direct, limits); n < 5+2*i {
				return fmt.Errorf("%d spent", n)
			}
			return nil
		})
		proxy.Heal()
		proxy.Reset()
		require.ErrorIs(t, <-failed, redisstore.ErrUnreachable)
		require.Equal(t, 5+2*i, spent(t, direct, limits))
		charge(t, s, user(1), limits, 1)
	}
}

func TestARestartWithAnEmptyMemoryIsABlink(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := anyRedis{server.Client(t), true}.store()
	for name, limits := range endless() {
		charge(t, s, user(1), limits, 5)
		server.Restart(t)
		var failures atomic.Int64
		redistest.Wait(t, 5*time.Second, "an answer", func() error {
			_, err := s.Take(t.Context(), core.Request{Key: user(1), Limits: limits, Cost: 1})
			if err != nil {
				failures.Add(1)
			}
			return err
		})
		require.Equal(t, 1, spent(t, s, limits), "%s: what was spent is forgotten, with the scripts", name)
		t.Logf("%s: %d failed checks", name, failures.Load())
	}
}
