package overredis

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
	"github.com/tierlimit/tierlimit/internal/redistest"
)

// TestContendersLimit keeps the comparison honest: each of them lets ten checks
// pass and refuses what follows, and knows callers apart.
func TestContendersLimit(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	for _, c := range append(all(), contender{nameDenying, openDenying},
		contender{nameFixedWindow, openFixedWindow}, contender{nameSlidingLog, openSlidingLog}) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ask := c.open(t, place{server: server}, limit{burst: 10, period: time.Hour})
			for i := range 12 {
				allowed, err := ask(t.Context(), c.name+" ana")
				if err != nil {
					t.Fatal(err)
				}
				if allowed != (i < 10) {
					t.Fatalf("check %d: %t", i+1, allowed)
				}
			}
			if allowed, err := ask(t.Context(), c.name+" bob"); err != nil || !allowed {
				t.Fatal("another caller:", allowed, err)
			}
		})
	}
}

// TestOursTakesOneRoundTrip guards what no timing could: one command a check,
// and what its script calls.
func TestOursTakesOneRoundTrip(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	for _, want := range []struct {
		limit  limit
		called float64 // TIME and GET, and a SET where something is charged
	}{{plenty, 3}, {spent, 2}} {
		h := audit(t, server, all()[0], want.limit, names("audit", audited))
		if h.trips > 1.05 || h.sent > 1.05 || h.called > want.called+0.001 { // an idle client pings
			t.Errorf("%v: round trips %v, commands %v, called %v, want at most 1, 1, %v", want.limit, h.trips, h.sent, h.called, want.called)
		}
	}
}

// The figures of a smoke run mean nothing; the tables must be whole.
func TestTables(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	var b strings.Builder
	if err := Tables(duel.Options{Rounds: 1, Quick: true}, &b); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + b.String())
	for _, c := range withoutThrottled() {
		if n := strings.Count(b.String(), "\n| "+c.name+" |"); n != 11 {
			t.Errorf("%d rows of %s", n, c.name)
		}
	}
	if strings.Contains(b.String(), "NaN") {
		t.Error("a figure is no number")
	}
}

// A skip and a failure end a stage, after its clean-up.
func TestStageEnds(t *testing.T) {
	t.Parallel()
	var order []string
	err := onStage(func(tb testing.TB) {
		tb.Helper()
		tb.Cleanup(func() { order = append(order, "first") })
		tb.Cleanup(func() { order = append(order, "second") })
		tb.Skipf("no %s", "Redis")
	})
	if !errors.Is(err, errSkipped) || !slices.Equal(order, []string{"second", "first"}) {
		t.Error(err, order)
	}
	err = onStage(func(tb testing.TB) {
		tb.Helper()
		tb.Fatal("broken")
	})
	if err == nil || err.Error() != "broken" {
		t.Error(err)
	}
}
