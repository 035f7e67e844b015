package chaostest_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
)

const (
	warmUp = 700 * time.Millisecond
	// outage is long enough for refusals of before to be forgotten.
	outage = 4 * time.Second

	// deadline is what one check may take: the store's 100 ms and a tick.
	deadline = 110 * time.Millisecond
	// remembered is how long a refusal is answered from memory.
	remembered = time.Second
	// quiet is how long without a fallback's answer shows that Redis is back.
	quiet = 200 * time.Millisecond
	// backWithin is how soon limits are shared again.
	backWithin = 3 * time.Second
)

// fault is when what happened, by the journal.
type fault struct {
	began, ended time.Duration
	snapshot     map[core.Key]account
}

// suffer has the load run, breaks something for a while, mends it and waits until
// limits are shared again.
func (f *fleet) suffer(t *testing.T, lasts time.Duration, breaks, mends func()) fault {
	t.Helper()
	var o fault
	rest(warmUp)
	o.began = f.now()
	breaks()
	rest(lasts)
	o.snapshot = f.journal.snapshot()
	o.ended = f.now()
	mends()
	f.waitShared()
	rest(300 * time.Millisecond)
	f.stop()
	return o
}

// waitShared waits for a while without a degraded decision, and not for ever:
// requireBack is who judges.
func (f *fleet) waitShared() {
	for from := f.now(); f.now() < from+2*backWithin; rest(5 * time.Millisecond) {
		since := max(from, f.now()-quiet)
		asked := f.between(since, since+quiet)
		degraded := slices.ContainsFunc(asked, func(d decision) bool { return d.degraded })
		if f.now() >= from+quiet && len(asked) >= 10 && !degraded {
			return
		}
	}
}

// slack is how much later than on a machine of its own things may be.
func (f *fleet) slack() time.Duration { return f.noise.late.of(0.999) }

// requireQuick asserts how long checks took: none longer than the deadline, and
// next to nothing once the breakers were open.
func (f *fleet) requireQuick(t *testing.T, o fault, opens bool) {
	t.Helper()
	all := f.waits(0, f.now())
	t.Logf("inside the store: %v", all)
	f.noise.requireWithin(t, deadline+f.slack(), all.of(0.999))
	if !opens {
		require.True(t, len(f.paused) == 0 || !f.noise.calm(), "the breaker is for a Redis that cannot be talked to")
		return
	}
	require.Len(t, f.paused, instances, "every breaker opens")
	opened := max(f.paused[0], f.paused[1])
	after := f.waits(opened, o.ended)
	t.Logf("open after %v, and then: %v", (opened - o.began).Round(time.Millisecond), after)
	f.noise.requireWithin(t, time.Millisecond+f.noise.late.of(0.5), after.of(0.99))
	f.noise.requireWithin(t, 2*deadline+f.slack(), opened-o.began)
}

// requireDegraded asserts that while Redis was away whoever was let in was let
// in by a fallback, and once refusals are forgotten, that all was told by one.
func (f *fleet) requireDegraded(t *testing.T, o fault, refusalsPass bool) {
	t.Helper()
	late := 50*time.Millisecond + f.noise.late.of(1)
	all, forgotten := 0, o.began+late+remembered+2*deadline
	for _, d := range f.between(o.began+late, o.ended-deadline-late) {
		must := d.allowed || !refusalsPass && d.at > forgotten
		require.False(t, must && !d.degraded, "%+v, %v after the fault", d, d.at-o.began)
		if must && !d.allowed {
			all++
		}
	}
	if !refusalsPass && f.noise.calm() {
		require.Greater(t, all, 100, "refusals that were told by a fallback")
	}
	for _, d := range f.between(0, o.began-late) {
		require.False(t, d.degraded && f.noise.calm(), "%+v, before the fault: %v", d, f.failed(0, o.began))
	}
	for _, d := range f.between(0, f.now()) {
		require.Contains(t, []core.Outcome{core.Allowed, core.OverQuota}, d.outcome)
	}
}

// requireBack asserts how soon limits were shared again for good.
func (f *fleet) requireBack(t *testing.T, o fault) {
	t.Helper()
	back := o.ended
	for _, d := range f.between(o.ended, f.now()) {
		if d.degraded {
			back = max(back, d.at)
		}
	}
	t.Logf("shared again after %v", (back - o.ended).Round(time.Millisecond))
	f.noise.requireWithin(t, backWithin+f.slack(), back-o.ended)
}

// requireFew asserts that goroutines were few, and are gone.
func (f *fleet) requireFew(t *testing.T) {
	t.Helper()
	t.Logf("goroutines: %d before, %d at most; state changes: %d; errors: %v; statuses: %v",
		f.before, f.noise.goroutines, f.changes.Load(), f.errors, f.statuses)
	if f.noise.calm() { // else requests pile up that the machine keeps waiting
		waiting := int(float64(f.of.rate) * f.noise.late.of(1).Seconds())
		require.Less(t, f.noise.goroutines, f.before+instances*512+waiting)
	}
	redistest.Wait(t, 10*time.Second, "goroutines to end", func() error {
		if n := runtime.NumGoroutine(); n > f.before+60 {
			return fmt.Errorf("%d are left of %d", n, f.before)
		}
		return nil
	})
}
