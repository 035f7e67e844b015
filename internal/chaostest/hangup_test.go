package chaostest_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/redisstore"
)

// TestHangUpsAreNoFailures: a thousand clients go away during the check. No
// breaker opens, no fallback answers, and nobody is told of a limit or an outage.
func TestHangUpsAreNoFailures(t *testing.T) { //nolint:paralleltest // it has the machine for itself
	_, p, option := proxied(t)
	calmly(t, func(t *testing.T) *noise {
		t.Helper()
		f := serve(t, option, full)
		p.Delay(10 * time.Millisecond)
		f.noise = listen()
		var wg sync.WaitGroup
		for i := range 1000 {
			wg.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				if i%4 == 0 {
					cancel() // before the check
				} else {
					time.AfterFunc(time.Duration(i%8)*time.Millisecond, cancel)
				}
				f.askUntil(ctx, i%instances, "/data", "vast", user("vast", i%4))
			})
			rest(time.Millisecond)
		}
		wg.Wait()
		f.noise.stop()
		p.Heal()
		t.Logf("statuses: %v, errors: %v", f.statuses, f.errors)
		if !f.noise.calm() {
			return f.noise // checks may have timed out, which are failures
		}
		require.Zero(t, f.changes.Load())
		for i := range f.redis {
			require.Equal(t, redisstore.StateClosed, f.redis[i].State())
		}
		canceled := 0
		for _, d := range f.between(0, f.now()) {
			require.Contains(t, []core.Outcome{core.Allowed, core.Canceled}, d.outcome)
			require.False(t, d.degraded)
			if d.outcome == core.Canceled {
				canceled++
			}
		}
		require.GreaterOrEqual(t, canceled, 250, "before the check, or during it")
		require.Equal(t, canceled, f.statuses[499])
		require.Equal(t, 1000-canceled, f.statuses[http.StatusOK])
		delete(f.errors, context.Canceled.Error()) // before anything was sent
		require.Empty(t, f.errors)
		require.Equal(t, http.StatusOK, f.ask(0, "/data", "pro", "ana").Code)
		return f.noise
	})
}
