package memstore

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// tape turns bytes into choices; it reads zeroes past its end.
type tape struct{ data []byte }

func (p *tape) below(n int) int {
	if len(p.data) == 0 {
		return 0
	}
	b := p.data[0]
	p.data = p.data[1:]
	return int(b) % n
}

func (p *tape) int64() int64 {
	var b [8]byte
	p.data = p.data[copy(b[:], p.data):]
	return int64(binary.LittleEndian.Uint64(b[:]))
}

// number is often one at which arithmetic turns over, and sometimes anything.
func (p *tape) number() int64 {
	edges := [...]int64{
		0, 1, 2, 3, 10, 1000, 60_000_000, 1 << 31, 200_000_000, 1 << 51, 1 << 52, 1 << 53,
		math.MaxInt64 / 1000, math.MaxInt64 / 2, math.MaxInt64, math.MinInt64,
	}
	n := edges[p.below(len(edges))]
	switch p.below(6) {
	case 0:
		return n + 1
	case 1:
		return n - 1
	case 2:
		return -n
	case 3:
		return p.int64()
	case 4:
		return p.int64() >> p.below(64)
	default:
		return n
	}
}

// limit is a lone GCRA window, also one that New would refuse.
func (p *tape) limit() core.Limit {
	if p.below(2) == 0 {
		count := 1 + p.below(20)
		return core.Limit{Count: count, Window: time.Duration(1+p.below(90)) * time.Second, Burst: 1 + p.below(30)}
	}
	return core.Limit{Count: int(p.number()), Window: time.Duration(p.number()), Burst: int(p.number())}
}

// step moves now: not at all, by what something takes, or anywhere.
func (p *tape) step(now int64, last *core.Result) int64 {
	level := last.Levels[0]
	switch p.below(9) {
	case 0, 1:
		return now
	case 2:
		now += level.RetryAfter.Microseconds()
	case 3:
		now += level.RetryAfter.Microseconds() - 1
	case 4:
		now += level.ResetAfter.Microseconds()
	case 5:
		now += int64(p.below(250)) * 100_000
	case 6:
		now -= int64(p.below(30)) * 100_000 // around the second that counts as jitter
	case 7:
		now += p.number() % (1 << 53)
	default:
		now = p.number()
	}
	return clampMoment(now)
}

// holdAgainstApply asks the inlined step and core.Apply the same questions of
// one bucket.
func holdAgainstApply(t *testing.T, data []byte) {
	t.Helper()
	p := &tape{data: data}
	now := int64(1_790_947_094_000_000)
	limit := p.limit()
	var (
		state core.State
		known bool // the store holds the bucket
		word  uint64
		last  core.Result
	)
	for i := 0; len(p.data) > 0; i++ {
		now = p.step(now, &last)
		if p.below(16) == 0 {
			limit = p.limit()
		}
		cost := p.below(12)
		if p.below(4) == 0 {
			cost = int(p.number())
		}
		mode := []core.Mode{core.Charge, core.Charge, core.Look, core.Force}[p.below(4)]
		if mode == core.Force && p.below(2) == 0 {
			cost = -cost
		}

		r := core.Request{Limits: []core.Limit{limit}, Cost: cost, Mode: mode}
		want := core.Apply(&state, time.UnixMicro(now), r)
		rate := rateOf(&limit)
		tat := now
		if known {
			tat = tatOf(word)
		}
		v := rate.judge(now, tat, int64(cost), mode)
		var got core.Result
		rate.answer(&v, now, &got)
		got.Now = want.Now
		require.Equal(t, want, got, "step %d: %+v, cost %d, mode %d, at %d, known %v, tat %d", i, limit, cost, mode, now, known, tat)

		if v.write && (known || v.tat > now) {
			word = pack(v.tat, rate.exhausted(v.tat, now), 0x2a)
			known = true
			require.Equal(t, v.tat, tatOf(word))
			require.NotEqual(t, frozen, word)
			require.Equal(t, uint64(0x2a), word&tagMask)
			require.Equal(t, got.Levels[0].Remaining == 0, word&exhaustedBit != 0, "exhausted means that not one unit is left")
		}
		if expires := state.Expires(); expires.IsZero() || expires.UnixMicro() <= now { // either side may forget it
			state, known = core.State{}, false
		}
		last = got
	}
}

func TestTheInlinedStepEqualsApply(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 7))
		for range 50 {
			data := make([]byte, 600)
			for i := range data {
				data[i] = byte(random.Uint32())
			}
			holdAgainstApply(t, data)
		}
	}
}

func FuzzTheInlinedStepEqualsApply(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		data := make([]byte, 300)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { holdAgainstApply(t, data) })
}

func TestEveryMomentFitsIntoAWord(t *testing.T) {
	t.Parallel()
	for _, now := range []int64{minMoment, minMoment + 1, -1, 0, 1, maxMoment - 1, maxMoment} {
		for _, debt := range []int64{0, 1, jitter, maxDebt, maxDebt + jitter} {
			for _, tag := range []uint64{0, 1, tagMask} {
				for _, exhausted := range []bool{false, true} {
					word := pack(now+debt, exhausted, tag)
					require.Equal(t, now+debt, tatOf(word))
					require.Equal(t, tag, word&tagMask)
					require.Equal(t, exhausted, word&exhaustedBit != 0)
					require.NotEqual(t, frozen, word)
				}
			}
		}
	}
	require.Equal(t, minMoment, clampMoment(math.MinInt64))
	require.Equal(t, maxMoment, clampMoment(math.MaxInt64))
}

func TestACostThatWouldWrapIsRefused(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 1_000_000, math.MaxInt} {
		for _, window := range []time.Duration{1, time.Second, 24 * time.Hour, 366 * 24 * time.Hour, 100 * 366 * 24 * time.Hour} {
			for _, burst := range []int{1, 10, 1_000_000, math.MaxInt} {
				for _, cost := range []int{1, 200_000_000, 1 << 30, math.MaxInt} {
					limit := core.Limit{Count: count, Window: window, Burst: burst}
					rate := rateOf(&limit)
					v := rate.judge(0, 0, int64(cost), core.Charge)
					require.False(t, v.wait == 0 && cost > burst, "%+v admits %d", limit, cost)
					var res core.Result
					rate.answer(&v, 0, &res)
					want := core.Apply(&core.State{}, time.UnixMicro(0), core.Request{Limits: []core.Limit{limit}, Cost: cost})
					want.Now = time.Time{}
					require.Equal(t, want, res, "%+v, cost %d", limit, cost)
				}
			}
		}
	}
}
