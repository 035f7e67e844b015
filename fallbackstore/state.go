package fallbackstore

import "fmt"

// State is which store judges. The zero value is [StateShared].
type State uint32

const (
	// StateShared means that the primary charges: it has not failed since it
	// last did.
	StateShared State = iota
	// StateDegraded means that the primary has failed, and has charged nothing
	// since: the local store answers.
	StateDegraded
)

// String is a label for metrics: "shared", "degraded".
func (s State) String() string {
	switch s {
	case StateShared:
		return "shared"
	case StateDegraded:
		return "degraded"
	default:
		return fmt.Sprintf("State(%d)", uint32(s))
	}
}
