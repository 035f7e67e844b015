package storetest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
)

// MapStore is the least that is a store: a map and a lock around [core.Apply].
// It never forgets a bucket, so it is not for use.
type MapStore struct {
	clock   core.Clock
	mu      sync.Mutex
	buckets map[bucket]*core.State
}

// bucket is a key and its set of windows. A lone GCRA window is the key's plain
// bucket, whatever its length.
type bucket struct {
	key core.Key
	set string
}

func NewMapStore(clock core.Clock) *MapStore {
	return &MapStore{clock: clock, buckets: map[bucket]*core.State{}}
}

func (s *MapStore) Take(_ context.Context, r core.Request) (core.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := bucket{r.Key, setOf(r.Limits)}
	if s.buckets[b] == nil {
		s.buckets[b] = &core.State{}
	}
	return core.Apply(s.buckets[b], s.clock.Now(), r), nil
}

func (s *MapStore) Reset(_ context.Context, key core.Key, limits []core.Limit) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.buckets, bucket{key, setOf(limits)})
	delete(s.buckets, bucket{key: key})
	return nil
}

func setOf(limits []core.Limit) string {
	if len(limits) == 1 && limits[0].Algorithm == core.GCRA {
		return ""
	}
	windows := make([]string, len(limits))
	for i, l := range limits {
		windows[i] = fmt.Sprint(l.Algorithm, l.Window)
	}
	slices.Sort(windows)
	return strings.Join(windows, "+")
}

// The least that is a store, and the two lines that prove and measure it.
func Example() {
	// In the store's own tests:
	//
	//	func TestMapStore(t *testing.T)      { storetest.Run(t, open) }
	//	func BenchmarkMapStore(b *testing.B) { storetest.Bench(b, open) }
	open := func(_ testing.TB, clock *fakeclock.Clock) core.Store {
		return NewMapStore(clock)
	}

	store := open(nil, fakeclock.New(time.Unix(0, 0)))
	res, err := store.Take(context.Background(), core.Request{
		Key:    core.Key{Tier: "free", ID: "ana"},
		Limits: core.PerMinute(10).Limits(),
		Cost:   3,
	})
	fmt.Println(res.Allowed, res.Levels[0].Remaining, res.Levels[0].ResetAfter, err)
	// Output: true 7 18s <nil>
}
