package memstore_test

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/memstore"
)

// start is where every clock begins: 14 s into a minute.
var start = time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC)

// open gives an empty store and the clock that it judges by.
func open(opts ...memstore.Option) (*memstore.Store, *fakeclock.Clock) {
	clock := fakeclock.New(start)
	return memstore.New(append([]memstore.Option{memstore.WithClock(clock)}, opts...)...), clock
}

// user is the key of the i-th user.
func user(i int) core.Key { return core.Key{Tier: "pro", ID: "user-" + strconv.Itoa(i)} }

// do asks s, which never fails. It is no helper of a test, because marking one
// costs more than the question.
func do(s core.Store, r core.Request) core.Result {
	res, err := s.Take(context.Background(), r)
	if err != nil {
		panic(err)
	}
	return res
}

func charge(s core.Store, key core.Key, limits []core.Limit, cost int) core.Result {
	return do(s, core.Request{Key: key, Limits: limits, Cost: cost})
}

// look asks for one unit and takes none.
func look(s core.Store, key core.Key, limits []core.Limit) core.Result {
	return do(s, core.Request{Key: key, Limits: limits, Cost: 1, Mode: core.Look})
}

func force(s core.Store, key core.Key, limits []core.Limit, cost int) core.Result {
	return do(s, core.Request{Key: key, Limits: limits, Cost: cost, Mode: core.Force})
}

// traffic is n checks that leave nothing behind.
func traffic(s core.Store, n int) {
	for range n {
		look(s, core.Key{ID: "passer-by"}, core.PerMinute(1).Limits())
	}
}

// together runs n goroutines that begin at the same moment, and waits for them.
func together(n int, f func(worker int)) {
	var wg sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-gate
			f(i)
		})
	}
	close(gate)
	wg.Wait()
}

// heap is how many bytes are in use once all garbage is gone.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// scaled is n, or a twentieth of it where the race detector makes everything slow.
func scaled(n int) int {
	if raceDetector {
		return n / 20
	}
	return n
}
