package redisstore_test

import (
	"errors"
	"maps"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/tierlimit/tierlimit/redisstore"
)

// failures counts errors by their kind, and knows when the last of each came,
// for any goroutine.
type failures struct {
	mu     sync.Mutex
	byKind map[string]int
	last   map[string]time.Time
}

// refusal finds what Redis said, READONLY or the like.
var refusal = regexp.MustCompile(`refused the command: ([A-Z]+)`)

func kindOf(err error) string {
	if said := refusal.FindStringSubmatch(err.Error()); said != nil && errors.Is(err, redisstore.ErrRefused) {
		return said[1]
	}
	for _, known := range []error{redisstore.ErrTimeout, redisstore.ErrUnreachable, redisstore.ErrPaused, redisstore.ErrBusy} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return err.Error()
}

func (f *failures) note(err error) {
	if err == nil {
		return
	}
	kind := kindOf(err)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byKind == nil {
		f.byKind, f.last = map[string]int{}, map[string]time.Time{}
	}
	f.byKind[kind]++
	f.last[kind] = time.Now()
}

func (f *failures) counts() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.byKind)
}

// since is what has failed beside what had before.
func (f *failures) since(before map[string]int) map[string]int {
	now := f.counts()
	maps.DeleteFunc(now, func(kind string, n int) bool { return n == before[kind] })
	for kind := range now {
		now[kind] -= before[kind]
	}
	return now
}

// lateness are the failures that a busy machine may cause at any time.
func lateness(counts map[string]int) int {
	return counts[redisstore.ErrTimeout.Error()] + counts[redisstore.ErrPaused.Error()]
}

// tell logs what failed, and when last.
func (f *failures) tell(t *testing.T, switched time.Time) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for kind, at := range f.last {
		t.Logf("%d x %s, until %v after the switch", f.byKind[kind], kind, at.Sub(switched))
	}
}
