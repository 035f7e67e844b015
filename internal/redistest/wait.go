package redistest

import (
	"testing"
	"time"
)

// Wait asks try until it gives nil, every 5 ms, and ends the test with the last
// error when that takes longer than within. what completes "waiting for".
func Wait(tb testing.TB, within time.Duration, what string, try func() error) {
	tb.Helper()
	deadline := time.Now().Add(within)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("redistest: waited %v for %s: %v", within, what, err)
		}
		time.Sleep(5 * time.Millisecond) //nolint:forbidigo // The servers are other processes, on the machine's time.
	}
}
