package denystore

import (
	"hash/maphash"
	"math/bits"

	"github.com/tierlimit/tierlimit/core"
)

// fingerprint stands for a key: 128 bits of hashes seeded at random for each
// store. The key itself is not kept.
type fingerprint struct{ a, b uint64 }

type seeds struct{ a, b maphash.Seed }

func newSeeds() seeds { return seeds{maphash.MakeSeed(), maphash.MakeSeed()} }

// Odd multipliers spread the hash of one part over all bits.
const (
	spread    = 0x9e3779b97f4a7c15
	anonymous = 0xc2b2ae3d27d4eb4f
)

// of hashes the parts one by one, so that none can be mistaken for another.
func (s seeds) of(k *core.Key) fingerprint {
	owner := maphash.String(s.b, k.Tier)
	if k.Scope != "" {
		owner ^= bits.RotateLeft64(maphash.String(s.a, k.Scope)*spread, 29)
	}
	if k.Anonymous {
		owner ^= anonymous
	}
	return fingerprint{
		a: maphash.String(s.a, k.ID) ^ owner*spread,
		b: maphash.String(s.b, k.ID) ^ bits.RotateLeft64(owner, 32),
	}
}
