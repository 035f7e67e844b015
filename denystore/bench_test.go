package denystore_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/denystore"
	"github.com/tierlimit/tierlimit/memstore"
)

// endless is one a minute with a burst that no benchmark uses up.
var endless = core.Per(1, time.Minute).WithBurst(1 << 26)

func TestACheckAllocatesNothing(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts everybody's
	for name, c := range map[string]struct {
		quota   core.Quota
		request core.Request
	}{
		"allowed":              {endless, core.Request{Cost: 1}},
		"allowed, two":         {endless.And(core.PerDay(1 << 20).Using(core.FixedWindow)), core.Request{Cost: 1}},
		"look":                 {endless, core.Request{Cost: 1, Mode: core.Look}},
		"give back":            {endless, core.Request{Cost: -1, Mode: core.Force}},
		"from memory":          {core.PerDay(1), core.Request{Cost: 1}},
		"from memory, dearer":  {core.PerDay(10).WithBurst(2), core.Request{Cost: 2}},
		"from memory, windows": {core.PerSecond(20).And(core.PerDay(1).Using(core.FixedWindow)), core.Request{Cost: 1}},
	} {
		s := denystore.New(memstore.New(), denystore.WithMaxAge(time.Hour))
		r := c.request
		r.Key, r.Limits = core.Key{Scope: "api", Tier: "free", ID: "ana"}, c.quota.Limits()
		for range 3 {
			take(t, s, core.Request{Key: r.Key, Limits: r.Limits, Cost: 1})
		}
		ctx := t.Context()
		require.Zero(t, testing.AllocsPerRun(1000, func() {
			if _, err := s.Take(ctx, r); err != nil {
				t.Error(err)
			}
		}), name)
	}
}

// BenchmarkTake asks a store alone and a cache over it by turns, so that both
// meet the same noise, and tells the median turn of each and what is between
// them.
func BenchmarkTake(b *testing.B) {
	for name, quota := range map[string]core.Quota{"allowed": endless, "refused": core.PerDay(1)} {
		b.Run(name, func(b *testing.B) {
			s := memstore.New()
			r := core.Request{Key: ana, Limits: quota.Limits(), Cost: 1}
			take(b, s, r)
			b.ReportAllocs()
			turns(b, s, denystore.New(s), r)
		})
	}
}

func turns(b *testing.B, alone, decorated core.Store, r core.Request) {
	b.Helper()
	const turn = 5_000
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
