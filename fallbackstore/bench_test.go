package fallbackstore_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fallbackstore"
	"github.com/tierlimit/tierlimit/memstore"
)

// endless is one a minute with a burst that no benchmark uses up.
var endless = core.Per(1, time.Minute).WithBurst(1 << 26)

func TestAHealthyCheckAllocatesNothing(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts everybody's
	for name, limits := range map[string][]core.Limit{
		"allowed": endless.Limits(),
		"refused": core.PerDay(1).Limits(),
		"two":     endless.And(core.PerDay(1 << 20).Using(core.FixedWindow)).Limits(),
	} {
		s := fallbackstore.New(memstore.New(), memstore.New(), fallbackstore.WithShare(0.5),
			fallbackstore.WithStateChange(func(fallbackstore.State) {}))
		r := core.Request{Key: ana, Limits: limits, Cost: 1}
		take(t, s, r)
		ctx := t.Context()
		require.Zero(t, testing.AllocsPerRun(1000, func() {
			if _, err := s.Take(ctx, r); err != nil {
				t.Error(err)
			}
		}), name)
	}
}

func TestADegradedCheckAllocatesNothing(t *testing.T) { //nolint:paralleltest // as above
	s := fallbackstore.New(broken{}, memstore.New(), fallbackstore.WithShare(0.5))
	for _, quota := range []core.Quota{endless, core.PerDay(4), core.PerSecond(20).And(core.PerDay(50_000))} {
		r := core.Request{Key: ana, Limits: quota.Limits(), Cost: 1}
		take(t, s, r)
		ctx := t.Context()
		require.Zero(t, testing.AllocsPerRun(1000, func() {
			if _, err := s.Take(ctx, r); err != nil {
				t.Error(err)
			}
		}), quota.String())
	}
}

// broken is a store that fails and allocates nothing.
type broken struct{ core.Store }

func (broken) Take(context.Context, core.Request) (core.Result, error) {
	return core.Result{}, errAway
}

// BenchmarkTake asks a store alone and a fallback over it by turns, so that both
// meet the same noise, and tells the median turn of each and what is between
// them. With the primary away the local store alone is what it is held against.
func BenchmarkTake(b *testing.B) {
	for name, primary := range map[string]core.Store{"healthy": memstore.New(), "away": broken{}} {
		b.Run(name, func(b *testing.B) {
			local := memstore.New()
			alone := core.Store(local)
			if name == "healthy" {
				alone = primary
			}
			b.ReportAllocs()
			turns(b, alone, fallbackstore.New(primary, local, fallbackstore.WithShare(0.5)))
		})
	}
}

func turns(b *testing.B, alone, decorated core.Store) {
	b.Helper()
	const turn = 5_000
	r := core.Request{Key: ana, Limits: endless.Limits(), Cost: 1}
	ctx := b.Context()
	var spent [2][]float64
	for done := 0; done < b.N; done += turn {
		n := min(turn, b.N-done)
		for i, s := range []core.Store{alone, decorated} {
			began := time.Now()
			for range n {
				_, _ = s.Take(ctx, r)
			}
			spent[i] = append(spent[i], float64(time.Since(began).Nanoseconds())/float64(n))
		}
	}
	var median [2]float64
	for i := range spent {
		slices.Sort(spent[i])
		median[i] = spent[i][len(spent[i])/2]
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median[0], "alone-ns")
	b.ReportMetric(median[1], "with-ns")
	b.ReportMetric(median[1]-median[0], "added-ns")
	b.ReportMetric(median[1]/median[0], "with/alone")
}
