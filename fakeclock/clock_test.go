package fakeclock_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/fakeclock"
)

func Example() {
	clock := fakeclock.New(time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC))
	clock.Advance(6 * time.Second)
	fmt.Println(clock.Now().Format(time.TimeOnly))
	// Output: 13:18:20
}

func TestClockStandsStillUntilItIsMoved(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 10, 2, 13, 18, 14, 0, time.UTC)
	clock := fakeclock.New(start)
	require.Equal(t, start, clock.Now())
	clock.Advance(90 * time.Second)
	require.Equal(t, start.Add(90*time.Second), clock.Now())
	clock.Advance(-2 * time.Minute)
	require.Equal(t, start.Add(-30*time.Second), clock.Now())
	clock.Set(start)
	require.Equal(t, start, clock.Now())
}

func TestClockDropsTheMonotonicReading(t *testing.T) {
	t.Parallel()
	clock := fakeclock.New(time.Now())
	require.NotContains(t, clock.Now().String(), "m=")
	clock.Set(time.Now())
	require.NotContains(t, clock.Now().String(), "m=")
}

func TestClockMovesByEveryGoroutinesAdvance(t *testing.T) {
	t.Parallel()
	start := time.Unix(0, 0)
	clock := fakeclock.New(start)
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() { clock.Advance(time.Second) })
	}
	wg.Wait()
	require.Equal(t, start.Add(100*time.Second), clock.Now())
}
