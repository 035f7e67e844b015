package memstore_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/memstore"
)

func TestIdsThatLookAlikeHaveBucketsOfTheirOwn(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("x", 1<<20)
	parts := []string{
		"", "a", "b", "c", "a:b", "b:c", "a:b:c", ":", "a b", "a\x00", "\x00a", "\x00", "a\nb", "*", "\xff", "\xff\xfe", "\xc3\x28",
		"anon", "anon:a", "é", "e\u0301", huge, huge + "y", "y" + huge, huge[1:],
	}
	s, _ := open()
	for _, limits := range kinds() {
		for _, scope := range parts[:12] {
			for _, tier := range parts[:12] {
				for _, id := range parts {
					for _, anonymous := range []bool{false, true} {
						key := core.Key{Scope: scope, Tier: tier, ID: id, Anonymous: anonymous}
						if len(id) > 1000 && (scope != "" || tier != "a") {
							continue
						}
						remaining := charge(s, key, limits, 1).Levels[0].Remaining
						if remaining != 9 {
							require.Failf(t, "shared", "%.99q", fmt.Sprint(key))
						}
					}
				}
			}
		}
	}
}

func TestRandomIdsShareNoBucket(t *testing.T) { //nolint:paralleltest // needs much memory
	count := scaled(2_000_000)
	limits := core.PerMinute(10).Limits()
	s, _ := open(memstore.WithMaxKeys(1 << 22))
	random := rand.New(rand.NewPCG(1, 2))
	for range count {
		var id [16]byte
		binary.LittleEndian.PutUint64(id[:], random.Uint64())
		binary.LittleEndian.PutUint64(id[8:], random.Uint64())
		charge(s, core.Key{Tier: "pro", ID: string(id[:])}, limits, 1)
	}
	require.Equal(t, count, s.Len())
}

func TestHugeIdsCostNoMore(t *testing.T) { //nolint:paralleltest // measures the heap
	const size = 1 << 20
	for name, limits := range map[string][]core.Limit{
		"cells":   core.PerMinute(10).Limits(),
		"buckets": core.PerMinute(10).Using(core.FixedWindow).Limits(),
	} {
		count := scaled(10_000)
		if name == "buckets" {
			count = 1000 // the ids are what takes the time
		}
		s, _ := open()
		before := heap()
		func() {
			random := rand.New(rand.NewPCG(3, 4))
			text := make([]byte, size+count)
			for i := range text {
				text[i] = byte(random.Uint32())
			}
			all := unsafe.String(&text[0], len(text))
			for i := range count {
				charge(s, core.Key{Tier: "pro", ID: all[i : i+size]}, limits, 1)
			}
		}()
		require.Equal(t, count, s.Len(), name)
		require.Less(t, heap()-before, int64(1024*count), name)
		require.Equal(t, count, s.Len(), name)
	}
}

func TestAStoreCannotBePredicted(t *testing.T) {
	t.Parallel()
	// Two stores push out different keys, because each hashes by a seed of its own.
	kept := func() []int {
		s, _ := open(memstore.WithMaxKeys(100))
		limits := core.Per(10, time.Hour).Limits()
		for i := range 300 {
			charge(s, user(i), limits, 1)
		}
		var users []int
		for i := range 300 {
			if look(s, user(i), limits).Levels[0].Remaining == 9 {
				users = append(users, i)
			}
		}
		return users
	}
	one, other := kept(), kept()
	require.NotEqual(t, one, other)
}
