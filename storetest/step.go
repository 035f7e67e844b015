package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// table is a story of one bucket, one row a step.
type table struct {
	name   string
	wants  string // what the contract says, for who reads the failure
	limits []core.Limit
	steps  []step
}

type step struct {
	after  time.Duration // since the step before; below 0: the clock was set back
	limits []core.Limit  // from this step on; nil: as before
	do     op
	want   answer
}

// op is what a step asks.
type op struct {
	mode core.Mode
	cost int
}

func charge(cost int) op { return op{core.Charge, cost} }
func look(cost int) op   { return op{core.Look, cost} }
func force(cost int) op  { return op{core.Force, cost} } // below 0: gives back

func (o op) String() string {
	return fmt.Sprintf("%s %d", [...]string{"charge", "look", "force"}[o.mode], o.cost)
}

// answer is what a step must be told.
type answer struct {
	allowed bool
	took    int // units charged, where whole is false
	whole   bool
	levels  []core.Level // in the order of the limits
}

// lv is one level: units left, until full, until the cost fits.
func lv(remaining int, reset, retry time.Duration) core.Level {
	return core.Level{Remaining: remaining, ResetAfter: reset, RetryAfter: retry}
}

// ok is an allowed step that is charged as asked, in one window.
func ok(remaining int, reset time.Duration) answer { return oks(lv(remaining, reset, 0)) }

// no is a refused step, in one window.
func no(remaining int, reset, retry time.Duration) answer { return nos(lv(remaining, reset, retry)) }

// met is a force that met no more than took units in one window, and left none.
func met(took int, reset time.Duration) answer { return mets(took, lv(0, reset, 0)) }

func oks(levels ...core.Level) answer { return answer{allowed: true, whole: true, levels: levels} }
func nos(levels ...core.Level) answer { return answer{levels: levels} }
func mets(took int, levels ...core.Level) answer {
	return answer{allowed: true, took: took, levels: levels}
}

// charged is what Result.Charged must be after o.
func (a answer) charged(o op) int {
	if a.whole && o.mode != core.Look {
		return o.cost
	}
	return a.took
}

// tables makes a subtest of every table.
func (o opener) tables(tables []table) func(*testing.T) {
	return func(t *testing.T) {
		for _, tb := range tables {
			if tb.one() {
				t.Run(tb.name, func(t *testing.T) { tb.run(t, o.open(t), asWritten) })
				continue
			}
			// The order of the limits changes no result, from one step to the next either.
			t.Run(tb.name+"/as_written", func(t *testing.T) { tb.run(t, o.open(t), asWritten) })
			t.Run(tb.name+"/reversed", func(t *testing.T) { tb.run(t, o.open(t), reversed) })
			t.Run(tb.name+"/turning", func(t *testing.T) { tb.run(t, o.open(t), turning) })
		}
	}
}

// one tells whether every step of the table is about one limit.
func (tb table) one() bool {
	return len(tb.limits) == 1 && !slices.ContainsFunc(tb.steps, func(s step) bool { return len(s.limits) > 1 })
}

// An order says which of n limits stands at place i in a step.
func asWritten(_, i, _ int) int     { return i }
func reversed(_, i, n int) int      { return n - 1 - i }
func turning(step, i, n int) int    { return (step + i) % n }
func (a answer) level(i int) string { return levelText(a.levels[i]) }

func (tb table) run(t *testing.T, s subject, order func(step, i, n int) int) {
	t.Helper()
	key := core.Key{Tier: "pro", ID: "ana"}
	limits := tb.limits
	for i, st := range tb.steps {
		if st.limits != nil {
			limits = st.limits
		}
		s.clock.Advance(st.after)
		n := len(limits)
		asked := make([]core.Limit, n)
		want := answer{allowed: st.want.allowed, took: st.want.charged(st.do), levels: make([]core.Level, n)}
		for at := range n {
			from := order(i, at, n)
			asked[at], want.levels[at] = limits[from], st.want.levels[from]
		}
		res := s.take(t, core.Request{Key: key, Limits: asked, Cost: st.do.cost, Mode: st.do.mode})
		if diff := want.differs(res); diff != "" {
			t.Fatalf("step %d (%v after the one before, %s): %s under %s\n%s\nthe contract: %s",
				i+1, st.after, s.clock.Now().Format("15:04:05.000000"), st.do, limitsText(asked), diff, tb.wants)
		}
	}
}

// differs tells what res has other than a; "" when nothing. Levels beyond the
// limits of the request mean nothing.
func (a answer) differs(res core.Result) string {
	got := answer{allowed: res.Allowed, took: res.Charged, levels: res.Levels[:len(a.levels)]}
	if a.allowed == got.allowed && a.took == got.took && slices.Equal(a.levels, got.levels) {
		return ""
	}
	return fmt.Sprintf("  want %s\n  got  %s", a, got)
}

func (a answer) String() string {
	verdict := "refused"
	if a.allowed {
		verdict = "allowed"
	}
	texts := make([]string, len(a.levels))
	for i := range a.levels {
		texts[i] = a.level(i)
	}
	return fmt.Sprintf("%s, charged %d; %s", verdict, a.took, strings.Join(texts, "; "))
}

func levelText(l core.Level) string {
	return fmt.Sprintf("%d left, reset %v, retry %v", l.Remaining, l.ResetAfter, l.RetryAfter)
}
