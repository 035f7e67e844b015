package memstore

import (
	"hash/maphash"
	"math/bits"

	"github.com/tierlimit/tierlimit/core"
)

// fingerprint stands for a key; see the package comment for how surely.
type fingerprint struct {
	hash  uint64 // what a cell keeps, and where the probe begins
	extra uint64 // its top chooses the shard, its bottom is the tag
}

// Odd multipliers spread a tier's hash over all bits without losing any.
const (
	spreadTier  = 0x9e3779b97f4a7c15
	spreadScope = 0xc2b2ae3d27d4eb4f
	anonymous   = 0x165667b19e3779f9
)

// fingerprint hashes the parts of k one by one, so that no part can be
// mistaken for another however they are written.
func (s *Store) fingerprint(k *core.Key) fingerprint {
	return s.fingerprintIn(s.tierHash(k.Tier), k.Scope, k.ID, k.Anonymous)
}

func (s *Store) tierHash(tier string) uint64 { return maphash.String(s.seedB, tier) }

// fingerprintIn is fingerprint for a tier that is hashed already.
func (s *Store) fingerprintIn(tier uint64, scope, id string, isAddress bool) fingerprint {
	owner := tier
	if scope != "" {
		owner ^= bits.RotateLeft64(maphash.String(s.seedA, scope)*spreadScope, 29)
	}
	if isAddress {
		owner ^= anonymous
	}
	f := fingerprint{
		hash:  maphash.String(s.seedA, id) ^ owner*spreadTier,
		extra: maphash.String(s.seedB, id) ^ bits.RotateLeft64(owner, 32)*spreadScope,
	}
	if f.hash <= deleted {
		f.hash += 2
	}
	return f
}

func (f fingerprint) tag() uint64 { return f.extra & tagMask }

// withSet is the fingerprint of the same owner's bucket for a set of windows.
// The order of the limits does not matter.
func (f fingerprint) withSet(limits []core.Limit) fingerprint {
	var set uint64
	for _, l := range limits {
		w := (uint64(max(l.Window, 1)-1)/1000 + 1) * spreadScope
		w ^= uint64(l.Algorithm+1) * spreadTier
		w ^= w >> 29
		set += w * spreadTier
	}
	f.hash ^= set
	f.extra ^= bits.RotateLeft64(set, 17)
	return f
}
