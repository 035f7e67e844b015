package core_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

type tape struct{ data []byte }

func (p *tape) next() byte {
	if len(p.data) == 0 {
		return 0
	}
	b := p.data[0]
	p.data = p.data[1:]
	return b
}

func (p *tape) below(n int) int { return int(p.next()) % n }

func (p *tape) int64() int64 {
	var b [8]byte
	for i := range b {
		b[i] = p.next()
	}
	return int64(binary.LittleEndian.Uint64(b[:]))
}

func (p *tape) number() int64 {
	edges := []int64{0, 1, 2, 10, 1000, 1_000_000, 1 << 31, 1 << 52, 1<<53 - 1, 1 << 53, 1 << 62, math.MaxInt64}
	n := edges[p.below(len(edges))]
	switch p.below(5) {
	case 0:
		return n + 1 // MaxInt64 + 1 is an edge as well
	case 1:
		return n - 1
	case 2:
		return -n
	case 3:
		return p.int64()
	default:
		return n
	}
}

func (p *tape) limits(t *testing.T) []core.Limit {
	t.Helper()
	spans := []time.Duration{7 * us, ms, 250 * ms, sec, 1500 * ms, 7 * sec, minute, day}
	var q core.Quota
	for i := range 1 + p.below(core.MaxLimits) {
		next := core.Per(1+p.below(20), spans[p.below(len(spans))])
		switch p.below(4) {
		case 0:
			next = next.Using(core.FixedWindow)
		case 1:
			next = next.Using(core.SlidingLog)
		case 2:
			next = next.WithBurst(1 + p.below(30))
		}
		if i == 0 {
			q = next
		} else {
			q = q.And(next)
		}
	}
	if _, err := core.New(newStore(core.SystemClock), only("tier", q)); err != nil {
		t.Skip("two windows of one length, or a rate that is not kept to 1 %")
	}
	return q.Limits()
}

func (p *tape) advance(limits []core.Limit, res *core.Result) time.Duration {
	l := limits[p.below(len(limits))]
	switch p.below(12) {
	case 0:
		return 0
	case 1:
		return l.Window
	case 2:
		return l.Window - us
	case 3:
		return -sec
	case 4:
		return -sec - us
	case 5:
		return -l.Window
	case 6:
		return -time.Duration(p.next()) * 10 * ms
	case 7:
		return res.Levels[p.below(len(limits))].RetryAfter
	case 8:
		return res.Levels[p.below(len(limits))].ResetAfter
	case 9:
		return time.Duration(p.next()) * us
	case 10:
		return time.Duration(p.next()) * 10 * ms
	default:
		return l.Window / time.Duration(1+p.below(20))
	}
}

func seeds(f *testing.F, length int) {
	f.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		data := make([]byte, length)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		f.Add(data)
	}
}

func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		require.Fail(t, "it does not end")
	}
}
