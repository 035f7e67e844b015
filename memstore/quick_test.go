package memstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/memstore"
)

func BenchmarkQuick(b *testing.B) {
	lim := core.PerMinute(1).WithBurst(1 << 26).Limits()
	ctx := context.Background()
	b.Run("hot", func(b *testing.B) {
		s := memstore.New()
		var st core.Store = s
		b.ReportAllocs()
		for b.Loop() {
			st.Take(ctx, core.Request{Key: core.Key{Tier: "free", ID: "user-123456"}, Limits: lim, Cost: 1})
		}
	})
	b.Run("refused", func(b *testing.B) {
		var st core.Store = memstore.New()
		lim := core.PerMinute(1).Limits()
		b.ReportAllocs()
		for b.Loop() {
			st.Take(ctx, core.Request{Key: core.Key{Tier: "free", ID: "user-123456"}, Limits: lim, Cost: 1})
		}
	})
	b.Run("limiter", func(b *testing.B) {
		l, _ := core.New(memstore.New(), core.Plans{Tiers: map[string]core.Quota{"free": core.PerMinute(1).WithBurst(1 << 26), "pro": core.PerMinute(100)}, Default: "free"})
		id := core.Identity{Key: "user-123456", Tier: "free"}
		b.ReportAllocs()
		for b.Loop() {
			l.Take(ctx, id, 1)
		}
	})
	b.Run("insert", func(b *testing.B) {
		var st core.Store = memstore.New(memstore.WithMaxKeys(1 << 30))
		keys := make([]string, 1<<20)
		for i := range keys {
			keys[i] = fmt.Sprint("user-", i)
		}
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			st.Take(ctx, core.Request{Key: core.Key{Tier: "free", ID: keys[i&(1<<20-1)]}, Limits: lim, Cost: 1})
			i++
		}
	})
	b.Run("sethvargo-like clock", func(b *testing.B) {
		base := time.Now()
		var d time.Duration
		for b.Loop() {
			d = time.Since(base)
		}
		_ = d
	})
}

func TestQuick(t *testing.T) {
	c := fakeclock.New(time.Unix(1790947094, 0))
	s := memstore.New(memstore.WithClock(c))
	lim := core.PerMinute(10).Limits()
	for i := range 10000 {
		r, _ := s.Take(context.Background(), core.Request{Key: core.Key{ID: fmt.Sprint(i)}, Limits: lim, Cost: 1})
		require.True(t, r.Allowed)
		require.Equal(t, 9, r.Levels[0].Remaining)
	}
	require.Equal(t, 10000, s.Len())
	c.Advance(time.Minute)
	for range 10000 {
		s.Take(context.Background(), core.Request{Key: core.Key{ID: "x"}, Limits: lim, Cost: 1})
	}
	require.Equal(t, 1, s.Len())
}
