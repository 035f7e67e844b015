package memory

import (
	"math"
	"runtime"
	"time"

	"github.com/tierlimit/tierlimit/benchmarks/rival"
)

// weight is what a full store costs while nobody asks it.
type weight struct {
	name  string
	bytes float64       // of heap a key, beside the key strings, which the caller holds anyway
	more  time.Duration // that a full collection takes than without the store
}

// weigh fills a store of each contender in turn.
func weigh(keys []string) []weight {
	var weights []weight
	for _, c := range rival.All() {
		bytesBefore, before := heap(), collection()
		check, stop := c.Open(rival.Endless)
		for _, key := range keys {
			_, _ = check(key)
		}
		bytesFull, full := heap(), collection()
		runtime.KeepAlive(check) // and no longer
		stop()
		tidy()
		after := collection()
		weights = append(weights, weight{
			name:  c.Name,
			bytes: (bytesFull - bytesBefore) / float64(len(keys)),
			more:  full - min(before, after),
		})
	}
	runtime.KeepAlive(keys)
	return weights
}

// collection is how long a full collection takes, the least of a few, since
// what disturbs one only makes it longer.
func collection() time.Duration {
	least := time.Duration(math.MaxInt64)
	for range 9 {
		began := time.Now()
		runtime.GC()
		least = min(least, time.Since(began))
	}
	return least
}

// heap is the live heap in bytes.
func heap() float64 {
	var m runtime.MemStats
	tidy()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// tidy frees what is dead, twice, since a cleaner that is stopped by a
// finalizer lets go of its store only after the first time.
func tidy() {
	runtime.GC()
	time.Sleep(time.Millisecond)
	runtime.GC()
}
