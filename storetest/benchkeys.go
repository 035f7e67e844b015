package storetest

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

const (
	million  = 1_000_000
	fillTime = 3 * time.Second // a slow store gets fewer keys
)

// perMinute is a window in which no key is full again before the end, and no
// key is ever refused: 1 a minute, 67 million at once.
var perMinute = list(burst(1, time.Minute, 1<<26))

// benchMillionKeys asks for keys far apart, so that each is a miss of the
// processor's caches. The keys that it asks with are its own copies, as in a
// server that reads them from requests: a store that kept the caller's string
// gains nothing by it.
func (o opener) benchMillionKeys(b *testing.B) {
	const stride = 2131 // a prime: every key in turn, none beside the one before; times a million it fits 32 bits
	ids := benchIDs(million)
	s := o.open(b)
	before := heapBytes()
	n := s.fill(b, million)
	perKey := (heapBytes() - before) / float64(n)
	o.side(b, func(b bench) asking {
		b.Cleanup(func() {
			b.ReportMetric(perKey, "heap-B/key")
			b.ReportMetric(float64(n), "keys")
		})
		ctx := b.Context()
		return func(worker, i int) error {
			at := (i%n*stride + worker*n/workers) % n
			return s.taking(ctx, core.Request{Key: core.Key{Tier: "pro", ID: ids[at]}, Limits: perMinute, Cost: 1}, true)
		}
	})
	runtime.KeepAlive(ids)
}

// benchNewKeys asks for each key once. After a million ids the scope changes.
func (o opener) benchNewKeys(b *testing.B) {
	ids := benchIDs(million)
	o.side(b, func(b bench) asking {
		s := b.open(b)
		scopes := make([]string, 256)
		for i := range scopes {
			scopes[i] = fmt.Sprint("scope", i)
		}
		ctx := b.Context()
		return func(worker, i int) error {
			i = i*workers + worker
			key := core.Key{Scope: scopes[i/million%len(scopes)], Tier: "pro", ID: ids[i%million]}
			return s.taking(ctx, core.Request{Key: key, Limits: perMinute, Cost: 1}, true)
		}
	})
}

// fill charges up to n keys and tells how many there were time for.
func (s subject) fill(b *testing.B, n int) int {
	b.Helper()
	began := time.Now()
	for i := range n {
		s.take(b, core.Request{Key: core.Key{Tier: "pro", ID: benchID(i)}, Limits: perMinute, Cost: 1})
		if i%1000 == 999 && time.Since(began) > fillTime {
			return i + 1
		}
	}
	return n
}

func benchIDs(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = benchID(i)
	}
	return ids
}

// benchID is 16 bytes.
func benchID(i int) string { return fmt.Sprintf("user-%011d", i) }

// heapBytes is what is alive on the heap.
func heapBytes() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
