package core_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// tape turns the bytes of a fuzzer into choices; it reads zeroes past its end.
// number is often one at which arithmetic turns over, and sometimes anything.
// limits are one to four small windows that New accepts.
// advance is mostly a little forward, sometimes to a turn, sometimes back.
// FuzzApply holds Apply against the plain model over any steps.
func FuzzApply(f *testing.F) {
	seeds(f, 600)
	f.Fuzz(func(t *testing.T, data []byte) {
		p := &tape{data: data}
		limits := p.limits(t)
		var s core.State
		ms := newModels(limits)
		now, res := start, core.Result{}
		for i := 0; len(p.data) > 0 && i < 400; i++ {
			now = now.Add(p.advance(limits, &res))
			mode := []core.Mode{charge, charge, look, force}[p.below(4)]
			cost := p.below(12)
			if mode == force && p.below(2) == 0 {
				cost = -cost
			}
			want := ms.apply(now, int64(cost), mode)
			res = core.Apply(&s, now, core.Request{Limits: limits, Cost: cost, Mode: mode})
			for j, l := range limits {
				if l.Algorithm == core.SlidingLog && cost > l.Count && !want.Allowed {
					require.Positive(t, res.Levels[j].RetryAfter)
					want.Levels[j].RetryAfter = res.Levels[j].RetryAfter // no wait helps
				}
			}
			require.Equal(t, want, res, "step %d: %+v, cost %d, mode %d", i, limits, cost, mode)
			if !s.Expires().IsZero() {
				fresh := core.Apply(&core.State{}, s.Expires(), core.Request{Limits: limits, Mode: look})
				fresh.Now = time.Time{}
				spent := core.Apply(&s, s.Expires(), core.Request{Limits: limits, Mode: look})
				spent.Now = time.Time{}
				if s.Expires().After(now) {
					require.Equal(t, fresh, spent, "an expired state is as good as fresh")
				}
			}
		}
	})
}

// FuzzGCRA holds a lone window of any size that New accepts against arithmetic
// that cannot wrap.
func FuzzGCRA(f *testing.F) {
	f.Add(int64(1), int64(day), int64(1), []byte{1, 2, 3})
	f.Add(int64(1), int64(36_500*day), int64(1), []byte{200, 7, 9, 11})
	f.Add(int64(1_000_000), int64(sec), int64(1<<52), []byte("any bytes at all will do for this"))
	f.Add(int64(1<<53-1), int64(math.MaxInt64), int64(1<<53), []byte("0123456789"))
	f.Add(int64(7), int64(sec), int64(7), []byte{255, 254, 253, 252, 251, 250, 249, 248, 247, 246, 245, 244})
	f.Fuzz(func(t *testing.T, count, window, burst int64, data []byte) {
		if count != int64(int(count)) || burst != int64(int(burst)) {
			t.Skip("no int here")
		}
		q := core.Per(int(count), time.Duration(window)).WithBurst(int(burst))
		if _, err := core.New(newStore(core.SystemClock), only("tier", q)); err != nil {
			t.Skip("New refuses it")
		}
		limits := q.Limits()
		p := &tape{data: data}
		var s core.State
		ms := newModels(limits)
		now, res := start, core.Result{}
		for i := 0; len(p.data) > 0 && i < 200; i++ {
			if p.below(3) > 0 {
				now = now.Add(p.advance(limits, &res))
			} else {
				// From before 1970 to the year 2198, where stores that count in 64-bit floats end.
				now = time.UnixMicro(p.int64() % 7_200_000_000_000_000)
			}
			mode := []core.Mode{charge, charge, look, force}[p.below(4)]
			cost := int(p.number())
			if mode != force {
				cost = max(cost, 0)
			}
			cost = max(cost, -math.MaxInt)
			want := ms.apply(now, int64(cost), mode)
			res = core.Apply(&s, now, core.Request{Limits: limits, Cost: cost, Mode: mode})
			if int64(cost) > int64(limits[0].Burst) && !want.Allowed {
				require.Positive(t, res.Levels[0].RetryAfter)
				want.Levels[0].RetryAfter = res.Levels[0].RetryAfter // no wait helps
			}
			require.Equal(t, want, res, "step %d: %+v, cost %d, mode %d", i, limits, cost, mode)
		}
	})
}

// within fails the test when f does not end, rather than to hang with it.
// FuzzApplyNeverPanics asks for anything, also under limits that New refuses.
func FuzzApplyNeverPanics(f *testing.F) {
	seeds(f, 200)
	f.Fuzz(func(t *testing.T, data []byte) {
		p := &tape{data: data}
		limits := make([]core.Limit, p.below(core.MaxLimits+2))
		for i := range limits {
			limits[i] = core.Limit{
				Algorithm: core.Algorithm(p.below(4)),
				Count:     int(p.number()),
				Window:    time.Duration(p.number()),
				Burst:     int(p.number()),
			}
			if i > 0 && p.below(3) == 0 {
				limits[i].Algorithm, limits[i].Window = limits[i-1].Algorithm, limits[i-1].Window
			}
		}
		var s core.State
		now := start
		for len(p.data) > 0 {
			if p.below(2) == 0 {
				now = now.Add(time.Duration(p.number()))
			}
			if p.below(8) == 0 {
				now = time.UnixMicro(p.number())
			}
			cost := int(p.number())
			mode := core.Mode(p.below(3))
			var res core.Result
			within(t, func() {
				res = core.Apply(&s, now, core.Request{Limits: limits, Cost: cost, Mode: mode})
			})
			for i, level := range res.Levels {
				require.GreaterOrEqual(t, level.Remaining, 0, "%+v", limits)
				require.GreaterOrEqual(t, level.ResetAfter, time.Duration(0), "%+v", limits)
				require.GreaterOrEqual(t, level.RetryAfter, time.Duration(0), "%+v", limits)
				require.True(t, i < len(limits) || level == core.Level{})
			}
		}
	})
}

// FuzzParseQuota: no text breaks it, and what it reads is written back as the
// same quota.
func FuzzParseQuota(f *testing.F) {
	for _, text := range append(quotaTexts(), badQuotaTexts()...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := core.ParseQuota(text)
		if err != nil {
			require.Equal(t, core.Quota{}, q)
			require.Contains(t, err.Error(), "core: bad quota ")
			return
		}
		again, err := core.ParseQuota(q.String())
		require.NoError(t, err, q.String())
		require.True(t, q.Equal(again), q.String())
		require.Equal(t, q.String(), again.String())
		_, err = core.New(newStore(core.SystemClock), only("tier", q))
		require.NoError(t, err, "what ParseQuota accepts, New accepts")
		upper, err := core.ParseQuota("  " + strings.ToUpper(q.String()) + "\t")
		require.NoError(t, err)
		require.True(t, q.Equal(upper))
	})
}

// FuzzTokenBucket: any rate is either a fault or granted to within rounding.
func FuzzTokenBucket(f *testing.F) {
	for _, rate := range []float64{
		0.5, 2.5, 10, 1 / 3.0, 0.1, 642.7777777777777, 0.0119706123456789, 0.1 + 0.2, 16.6, 999.999, math.Pi,
		1e-9, 1e-300, 1e300, 1 << 53, 1<<53 - 424, math.Inf(1), math.NaN(), 0, -1,
	} {
		f.Add(10, rate)
	}
	f.Fuzz(func(t *testing.T, capacity int, rate float64) {
		var q core.Quota
		within(t, func() { q = core.TokenBucket(capacity, rate) })
		_, err := core.New(newStore(core.SystemClock), only("tier", q))
		if err != nil {
			return
		}
		l := q.Limits()[0]
		require.Positive(t, rate)
		require.Equal(t, capacity, l.Burst)
		require.Zero(t, l.Window%time.Second)
		require.InEpsilon(t, rate, float64(l.Count)/float64(l.Window/time.Second), 1e-9)
	})
}
