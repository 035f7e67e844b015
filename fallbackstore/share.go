package fallbackstore

import (
	"github.com/puzpuzpuz/xsync/v4"

	"github.com/tierlimit/tierlimit/core"
)

// shares keeps the local part of each set of limits. Plans have few; whoever
// makes up new ones all the time is served without the cache.
type shares struct {
	share float64
	known *xsync.Map[[core.MaxLimits]core.Limit, []core.Limit]
}

const mostKnown = 4096

func (s *shares) init(share float64) {
	s.share = share
	s.known = xsync.NewMap[[core.MaxLimits]core.Limit, []core.Limit]()
}

// of is what limits grant locally. Windows stay as they are, so that a bucket
// is the same whatever the share.
func (s *shares) of(limits []core.Limit) []core.Limit {
	if s.share == 1 {
		return limits
	}
	var key [core.MaxLimits]core.Limit
	copy(key[:], limits)
	if known, ok := s.known.Load(key); ok && len(known) == len(limits) {
		return known
	}
	part := make([]core.Limit, len(limits))
	for i, l := range limits {
		l.Count, l.Burst = s.part(l.Count), s.part(l.Burst)
		part[i] = l
	}
	if s.known.Size() < mostKnown {
		s.known.Store(key, part)
	}
	return part
}

// part is the most that is not more than the share of n, at least 1. It is
// found by division, where a float holds 1/49 exactly as the caller wrote it:
// 1/49 of 98 is 2.
func (s *shares) part(n int) int {
	m := int(float64(n) * s.share) // off by one at most
	if float64(m+1)/float64(n) <= s.share {
		m++
	} else if float64(m)/float64(n) > s.share {
		m--
	}
	return max(m, 1)
}
