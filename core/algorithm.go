package core

import "fmt"

// Algorithm says how a [Limit] counts. The zero value is [GCRA]. An Algorithm
// is a plain value and safe for concurrent use.
type Algorithm uint8

const (
	// GCRA spaces requests evenly and lets an idle caller save up a burst: in
	// any span t at most burst + t/T are admitted, where T = window/count (10 a
	// minute with the default burst of 10: at most 20 in any one minute, and 1
	// more every 6 s). Its state is one number. It is what [PerMinute] and the
	// others mean unless [Quota.Using] says otherwise.
	GCRA Algorithm = iota
	// FixedWindow counts in windows that begin at multiples of the window since
	// 1970, so 1000 a day turns over at midnight UTC. Around an edge it admits
	// up to twice its count.
	FixedWindow
	// SlidingLog remembers when each unit was spent and never admits more than
	// the count in any span of one window. It keeps up to count entries a key.
	SlidingLog
)

// String returns "gcra", "fixed_window" or "sliding_log".
func (a Algorithm) String() string {
	switch a {
	case GCRA:
		return "gcra"
	case FixedWindow:
		return "fixed_window"
	case SlidingLog:
		return "sliding_log"
	default:
		return fmt.Sprintf("Algorithm(%d)", uint8(a))
	}
}
