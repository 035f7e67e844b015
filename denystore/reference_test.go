package denystore_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
)

// reference is core.Apply with a map around it. Other than a real store it
// never forgets, so two of them are the same also when the clock goes back to
// where state had run out.
type reference struct {
	clock *fakeclock.Clock

	mu      sync.Mutex
	buckets map[string]*core.State
}

func newReference(clock *fakeclock.Clock) *reference {
	return &reference{clock: clock, buckets: map[string]*core.State{}}
}

func (s *reference) Take(_ context.Context, r core.Request) (core.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := bucketName(r.Key, r.Limits)
	if s.buckets[name] == nil {
		s.buckets[name] = &core.State{}
	}
	return core.Apply(s.buckets[name], s.clock.Now(), r), nil
}

func (s *reference) Reset(_ context.Context, key core.Key, limits []core.Limit) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.buckets, bucketName(key, nil))
	delete(s.buckets, bucketName(key, limits))
	return nil
}

// bucketName is the key and the set of windows; a lone GCRA window has none.
func bucketName(k core.Key, limits []core.Limit) string {
	var set []string
	for _, l := range limits {
		if len(limits) > 1 || l.Algorithm != core.GCRA {
			set = append(set, fmt.Sprint(l.Algorithm, l.Window))
		}
	}
	slices.Sort(set)
	return fmt.Sprintf("%+v %s", k, strings.Join(set, " "))
}
