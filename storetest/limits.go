package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

func gcra(count int, window time.Duration) core.Limit {
	return burst(count, window, count)
}

func burst(count int, window time.Duration, most int) core.Limit {
	return core.Limit{Algorithm: core.GCRA, Count: count, Window: window, Burst: most}
}

func fixed(count int, window time.Duration) core.Limit {
	return core.Limit{Algorithm: core.FixedWindow, Count: count, Window: window, Burst: count}
}

func sliding(count int, window time.Duration) core.Limit {
	return core.Limit{Algorithm: core.SlidingLog, Count: count, Window: window, Burst: count}
}

func list(limits ...core.Limit) []core.Limit { return limits }

// set is a kind of bucket that a part of the suite goes through.
type set struct {
	name   string
	limits []core.Limit
}

// sets are the kinds of buckets, each with n units in every window.
func sets(n int) []set {
	return []set{
		{"gcra", list(gcra(n, time.Hour))},
		{"fixed_window", list(fixed(n, time.Hour))},
		{"sliding_log", list(sliding(n, time.Hour))},
		{"two_windows", list(gcra(n, time.Hour), fixed(n, 24*time.Hour))},
	}
}

// limitsText is "gcra 10/1m0s burst 20 and fixed_window 5/1h0m0s".
func limitsText(limits []core.Limit) string {
	texts := make([]string, len(limits))
	for i, l := range limits {
		texts[i] = fmt.Sprintf("%v %d/%v", l.Algorithm, l.Count, l.Window)
		if l.Algorithm == core.GCRA && l.Burst != l.Count {
			texts[i] += fmt.Sprintf(" burst %d", l.Burst)
		}
	}
	return strings.Join(texts, " and ")
}

// setName is what tells the buckets of one key apart: algorithms and windows,
// in whatever order. A lone GCRA window is the plain bucket, whatever its length.
func setName(limits []core.Limit) string {
	if len(limits) == 1 && limits[0].Algorithm == core.GCRA {
		return "plain"
	}
	names := make([]string, len(limits))
	for i, l := range limits {
		names[i] = fmt.Sprintf("%v %v", l.Algorithm, l.Window)
	}
	slices.Sort(names)
	return strings.Join(names, " and ")
}

// keyText is key for a message, shortened.
func keyText(key core.Key) string {
	text := fmt.Sprintf("{Scope:%s Tier:%s ID:%s", short(key.Scope), short(key.Tier), short(key.ID))
	if key.Anonymous {
		text += " Anonymous"
	}
	return text + "}"
}

func short(s string) string {
	if len(s) > 80 {
		return fmt.Sprintf("%q... (%d bytes)", s[:20], len(s))
	}
	return fmt.Sprintf("%q", s)
}
