package record

import (
	"math"
	"sync/atomic"
)

// price is what a request costs in all, once that is known. The zero price is
// unknown; it is safe for concurrent use.
type price struct {
	bits atomic.Int64 // 2n + 1; 0 while it is unknown
}

// set notes n, and tells whether that is new. No bucket holds more than what an
// int64 halved does.
func (p *price) set(n int) (changed bool) {
	bits := min(max(int64(n), math.MinInt64/2), math.MaxInt64/2)<<1 | 1
	return p.bits.Swap(bits) != bits
}

func (p *price) get() (n int, known bool) {
	bits := p.bits.Load()
	return int(bits >> 1), bits != 0
}
