package memstore

import (
	"sync/atomic"

	"github.com/tierlimit/tierlimit/core"
)

// rates keeps what was reckoned of a limit: a division is a tenth of a check.
// Plans have few limits, and the first of a place stays, so that nothing is
// written later.
type rates [16]atomic.Pointer[knownRate]

type knownRate struct {
	limit core.Limit
	rate  rate
}

// of is rateOf, remembered.
func (k *rates) of(l *core.Limit) rate {
	place := &k[uint(l.Count)%uint(len(k))]
	known := place.Load()
	if known != nil && known.limit == *l {
		return known.rate
	}
	r := rateOf(l)
	if known == nil {
		place.CompareAndSwap(nil, &knownRate{*l, r})
	}
	return r
}
