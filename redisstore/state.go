package redisstore

import "fmt"

// State is what a store's breaker does. The zero value is [StateClosed].
type State uint32

const (
	// StateClosed lets checks through.
	StateClosed State = iota
	// StateHalfOpen lets one check through to see how Redis is.
	StateHalfOpen
	// StateOpen fails checks at once with [ErrPaused].
	StateOpen
)

// String is a label for metrics: "closed", "half_open", "open".
func (s State) String() string {
	switch s {
	case StateClosed:
		return "closed"
	case StateHalfOpen:
		return "half_open"
	case StateOpen:
		return "open"
	default:
		return fmt.Sprintf("State(%d)", uint32(s))
	}
}
