package redisstore_test

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// patient is for stores whose answers matter and not how soon they come.
const patient = 20 * time.Second

// clientChange is a change of a client's options.
type clientChange = func(*rueidis.ClientOption)

// anyRedis is a Redis, real or in this process.
type anyRedis struct {
	rueidis.Client

	real bool
}

// eachRedis runs f on a real Redis, which is skipped where there is none, and on
// one in this process, so that the scripts are proved anywhere.
func eachRedis(t *testing.T, f func(t *testing.T, r anyRedis)) {
	t.Helper()
	t.Run("miniredis", func(t *testing.T) {
		t.Parallel()
		if _, err := exec.LookPath("redis-server"); raceDetector && err == nil {
			t.Skip("under the race detector this is slow, and there is a real one")
		}
		f(t, mini(t))
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		f(t, anyRedis{redistest.Start(t).Client(t), true})
	})
}

// mini is a Redis in this process. Its time goes on, but nothing in it expires.
func mini(tb testing.TB) anyRedis {
	tb.Helper()
	client, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress:       []string{miniredis.RunT(tb).Addr()},
		DisableCache:      true,
		ForceSingleClient: true,
		AlwaysPipelining:  true,
	})
	require.NoError(tb, err)
	tb.Cleanup(client.Close)
	return anyRedis{client, false}
}

// store makes one that waits for its answers.
func (r anyRedis) store(opts ...redisstore.Option) *redisstore.Store {
	return redisstore.New(r.Client, append([]redisstore.Option{redisstore.WithTimeout(patient), redisstore.WithMaxInFlight(1020)}, opts...)...)
}

// do sends a command, words as fmt.Sprint prints them.
func (r anyRedis) do(tb testing.TB, words ...any) rueidis.RedisResult {
	tb.Helper()
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = fmt.Sprint(word)
	}
	res := r.Do(context.Background(), r.B().Arbitrary(texts[0]).Args(texts[1:]...).Build()) //nolint:usetesting // also in a clean-up
	if err := res.Error(); err != nil && !rueidis.IsRedisNil(err) {
		require.NoError(tb, err)
	}
	return res
}

// text is the reply to a command as a string, "" for none.
func (r anyRedis) text(tb testing.TB, words ...any) string {
	tb.Helper()
	message, err := r.do(tb, words...).ToAny()
	if err != nil {
		return ""
	}
	return fmt.Sprint(message)
}

// pttl is how long a key lives.
func (r anyRedis) pttl(tb testing.TB, key string) time.Duration {
	tb.Helper()
	ms, err := r.do(tb, "PTTL", key).ToInt64()
	require.NoError(tb, err)
	return time.Duration(ms) * time.Millisecond
}

// user is the key of the i-th user.
func user(i int) core.Key { return core.Key{Tier: "pro", ID: fmt.Sprint("user-", i)} }

func take(tb testing.TB, s core.Store, r core.Request) core.Result {
	tb.Helper()
	res, err := s.Take(context.Background(), r) //nolint:usetesting // the store's own deadline holds
	require.NoError(tb, err)
	return res
}

func charge(tb testing.TB, s core.Store, key core.Key, limits []core.Limit, cost int) core.Result {
	tb.Helper()
	return take(tb, s, core.Request{Key: key, Limits: limits, Cost: cost})
}

func look(tb testing.TB, s core.Store, key core.Key, limits []core.Limit) core.Result {
	tb.Helper()
	return take(tb, s, core.Request{Key: key, Limits: limits, Cost: 1, Mode: core.Look})
}

func force(tb testing.TB, s core.Store, key core.Key, limits []core.Limit, cost int) {
	tb.Helper()
	take(tb, s, core.Request{Key: key, Limits: limits, Cost: cost, Mode: core.Force})
}

// ask is one check of the first user's, for tests of errors.
func ask(s core.Store) error {
	_, err := s.Take(context.Background(), core.Request{Key: user(1), Limits: plenty, Cost: 1})
	return err
}

// answers waits for an answer, for a busy machine may be late.
func answers(tb testing.TB, s core.Store) {
	tb.Helper()
	redistest.Wait(tb, patient, "an answer", func() error { return ask(s) })
}

// plenty is a window that no test uses up.
var plenty = core.Per(1, time.Minute).WithBurst(1 << 26).Limits()

// together runs n goroutines that begin at the same moment, and waits for them.
func together(n int, f func(worker int)) {
	var wg sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-gate
			f(i)
		})
	}
	close(gate)
	wg.Wait()
}

// traffic has workers ask one after the other until stop.
type traffic struct {
	ended    atomic.Bool
	running  sync.WaitGroup
	answered atomic.Int64
}

// run begins to send checks; each is told to seen with its error, by its worker.
func run(tb testing.TB, workers int, check func(worker, i int) error, seen func(err error)) *traffic {
	tb.Helper()
	t := &traffic{}
	tb.Cleanup(t.stop) // of a test that has failed
	for worker := range workers {
		t.running.Go(func() {
			for i := 0; !t.ended.Load(); i++ {
				err := check(worker, i)
				if err == nil {
					t.answered.Add(1)
				}
				seen(err)
			}
		})
	}
	return t
}

// goOn waits until so many more have been answered.
func (t *traffic) goOn(tb testing.TB, n int64) {
	tb.Helper()
	before := t.answered.Load()
	redistest.Wait(tb, patient, "some checks", func() error {
		if more := t.answered.Load() - before; more < n {
			return fmt.Errorf("%d answered", more)
		}
		return nil
	})
}

func (t *traffic) stop() {
	t.ended.Store(true)
	t.running.Wait()
}
