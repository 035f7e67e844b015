package chaostest_test

import (
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
	calmly(t, func(t *testing.T) *noise {
		t.Helper()
		s.Do(t, "flushall")
		shared, err := redisstore.Open(s.ClientOption(), redisstore.WithBreaker(5, 10*time.Second)) // it stays open
		require.NoError(t, err)
		t.Cleanup(shared.Close)
		require.NoError(t, shared.Ready(t.Context()))
		f := &fleet{journal: newJournal()}
		f.apis[0] = newAPI(t, whole{inner{shared, f.journal, 0}, f.journal}, full.plans, f.journal)

		w := f.ask(0, "/login", "pro", "ana")
		require.Equal(t, http.StatusOK, w.Code)
		require.Equal(t, "40", w.Header().Get("X-RateLimit-Limit"))
		s.Freeze(t)
		defer s.Thaw(t)
		var five sync.WaitGroup
		for range 5 {
			five.Go(func() { f.ask(0, "/data", "pro", "ana") })
		}
		five.Wait()
		require.Equal(t, redisstore.StateOpen, shared.State())

		n := listen()
		took := f.askBoth(t)
		n.stop()
		t.Logf("whole requests: %v", took)
		n.requireWithin(t, time.Millisecond+n.late.of(0.5), took.of(0.99))

		outcomes := map[core.Outcome]int{}
		for _, d := range f.between(0, f.now()) {
			outcomes[d.outcome]++
			require.False(t, d.degraded, "nobody has answered")
		}
		require.Equal(t, map[core.Outcome]int{core.Allowed: 1, core.StorageFailed: 500, core.AllowedOnStorageError: 505}, outcomes)
		return n
	})
}

// askBoth asks the closed and the open route by turns and tells how long each
// request took.
func (f *fleet) askBoth(t *testing.T) durations {
	t.Helper()
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
	return took
}
