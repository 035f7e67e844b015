package chaostest_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// TestWithoutALocalStoreThePolicyOfTheRouteDecides, at once: /login is closed,
// /data is open, in one process on one store.
func TestWithoutALocalStoreThePolicyOfTheRouteDecides(t *testing.T) { //nolint:paralleltest // it has the machine for itself
	s := redistest.Start(t)
	shared, err := redisstore.Open(s.ClientOption(), redisstore.WithBreaker(5, 10*time.Second)) // it stays open
	require.NoError(t, err)
	t.Cleanup(shared.Close)
	require.NoError(t, shared.Ready(t.Context()))
	f := &fleet{journal: newJournal()}
	f.apis[0] = newAPI(t, whole{inner{shared, f.journal, 0}, f.journal}, f.journal)

	w := f.ask(0, "/login", "pro", "ana")
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "40", w.Header().Get("X-RateLimit-Limit"))
	s.Freeze(t)
	var five sync.WaitGroup
	for range 5 {
		five.Go(func() { f.ask(0, "/data", "pro", "ana") })
	}
	five.Wait()
	require.Equal(t, redisstore.StateOpen, shared.State())

	n := listen()
	var took durations
	for range 500 {
		for path, want := range map[string]int{"/login": http.StatusServiceUnavailable, "/data": http.StatusOK} {
			began := time.Now()
			w := f.ask(0, path, "pro", "ana")
			took = append(took, time.Since(began))
			require.Equal(t, want, w.Code, path)
			for name := range w.Header() {
				require.False(t, strings.HasPrefix(name, "X-Ratelimit") || strings.HasPrefix(name, "Ratelimit"), "%s: %s", path, name)
			}
			if want != http.StatusOK {
				require.JSONEq(t, `{"error":"service unavailable"}`, w.Body.String())
			}
		}
	}
	n.stop()
	t.Logf("whole requests: %v", took)
	t.Logf("a sleeper is late by: %v", n.late)
	n.requireWithin(t, time.Millisecond+3*n.late.of(0.99), took.of(0.99))

	outcomes := map[core.Outcome]int{}
	for _, d := range f.between(0, f.now()) {
		outcomes[d.outcome]++
		require.False(t, d.degraded, "nobody has answered")
	}
	require.Equal(t, map[core.Outcome]int{core.Allowed: 1, core.StorageFailed: 500, core.AllowedOnStorageError: 505}, outcomes)
	s.Thaw(t)
}

// TestHangUpsAreNoFailures: a thousand clients go away during the check. No
// breaker opens and no fallback answers.
func TestHangUpsAreNoFailures(t *testing.T) { //nolint:paralleltest // as above
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr())
	option := s.ClientOption()
	redistest.Through(p)(&option)
	f := serve(t, option)
	p.Delay(10 * time.Millisecond)
	f.noise = listen()
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Duration(i%8)*time.Millisecond, cancel)
			f.askUntil(ctx, i%instances, "/data", "bulk", bulk(i%4))
		})
		rest(time.Millisecond)
	}
	wg.Wait()
	f.noise.stop()
	p.Heal()
	t.Logf("statuses: %v, errors: %v", f.statuses, f.errors)
	if !f.noise.calm() {
		t.Skip("the machine stood still, so checks timed out, which are failures")
	}
	require.Zero(t, f.changes.Load())
	for i := range f.redis {
		require.Equal(t, redisstore.StateClosed, f.redis[i].State())
	}
	for _, d := range f.between(0, f.now()) {
		require.Contains(t, []core.Outcome{core.Allowed, core.OverQuota, core.Canceled}, d.outcome)
		require.False(t, d.degraded)
	}
	delete(f.errors, context.Canceled.Error()) // before anything was sent
	require.Empty(t, f.errors)
	require.Equal(t, http.StatusOK, f.ask(0, "/data", "pro", "ana").Code)
}
