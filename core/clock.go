package core

import "time"

// Clock tells the time. It must be safe for concurrent use. Package fakeclock
// has one that tests move.
type Clock interface {
	// Now is the current time. Where it has a monotonic reading, spans are
	// measured by that.
	Now() time.Time
}

// SystemClock is this machine's clock, with its monotonic reading.
var SystemClock Clock = systemClock{}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }
