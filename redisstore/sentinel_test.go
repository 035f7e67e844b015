package redisstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// TestSentinelsMakeAnotherMaster kills the master, or freezes it, under load.
func TestSentinelsMakeAnotherMaster(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes 10 s")
	}
	for name, harm := range map[string]func(*testing.T, *redistest.Server){
		"killed": func(t *testing.T, s *redistest.Server) { t.Helper(); s.Kill(t) },
		"frozen": func(t *testing.T, s *redistest.Server) { t.Helper(); s.Freeze(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sentinel := redistest.StartSentinel(t)
			s := open(t, sentinel.ClientOption(), redisstore.WithTimeout(500*time.Millisecond))
			ready(t, s)
			answers(t, s)
			seen := errorCounts{}
			load := run(t, 10, func(worker, i int) error {
				_, err := s.Take(t.Context(), core.Request{Key: user((worker*31 + i) % 100), Limits: plenty, Cost: 1})
				if err != nil {
					<-time.After(time.Millisecond) // as above
				}
				return err
			}, seen.note)
			old := sentinel.Master(t)
			began := time.Now()
			harm(t, old)
			master := sentinel.WaitFailover(t, old)
			elected := time.Since(began)
			redistest.Wait(t, patient, "an answer", func() error { return ask(s) })
			well := time.Since(began)
			during := seen.counts()
			seen.waitForPeace(t)
			load.stop()
			t.Logf("elected after %v, well after %v; meanwhile %v", elected, well, during)
			require.Less(t, well-elected, 6*time.Second)
			require.Equal(t, redisstore.StateClosed, s.State())
			require.NotEmpty(t, master.Keys(t, "trt:*"), "nobody asks the old one")
			if name == "frozen" {
				old.Thaw(t)
				sentinel.WaitOK(t)
				answers(t, s)
			}
		})
	}
}
