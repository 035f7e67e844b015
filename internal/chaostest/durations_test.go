package chaostest_test

import (
	"fmt"
	"slices"
	"time"
)

// durations are how long things took.
type durations []time.Duration

// of is the p-th part in order: of(0.99) is not exceeded by 99 of 100.
func (d durations) of(p float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}

func (d durations) String() string {
	return fmt.Sprintf("%d calls, p50 %v, p99 %v, p99.9 %v, max %v", len(d),
		d.of(0.5).Round(time.Microsecond), d.of(0.99).Round(time.Microsecond),
		d.of(0.999).Round(time.Microsecond), d.of(1).Round(time.Microsecond))
}
