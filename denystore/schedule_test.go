package denystore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/denystore"
)

// trouble is what may happen besides charges.
type trouble struct {
	fates       []fate // of one answer in ten
	corrections bool   // of this instance
	elsewhere   bool   // another instance charges and gives back
}

// schedule is a random order in which charges of one caller come, are judged and
// are answered.
type schedule struct {
	gated
	trouble

	rng    *rand.Rand
	limits []core.Limit
	age    time.Duration
	still  bool // the clock moves only while nothing is open

	open    []*held
	wrote   time.Time // when another instance did last
	doubt   bool      // a claim may not be charged, and counts until all are answered
	refused int       // from memory
	exact   int       // of these, held against the store number for number
	log     []string
}

func (s *schedule) sayf(format string, args ...any) {
	s.log = append(s.log, s.clock.Now().Format("04:05.000000 ")+fmt.Sprintf(format, args...))
	s.log = s.log[max(len(s.log)-25, 0):]
}

func (s *schedule) step(t *testing.T) {
	t.Helper()
	switch n := s.rng.IntN(10); {
	case n < 4 && len(s.open) < 6:
		s.start(t)
	case n < 4:
	case n < 8 && len(s.open) > 0:
		h := s.open[s.rng.IntN(len(s.open))]
		if n < 6 && !h.judged {
			h.judge()
			s.sayf("judged %v %d", h.Mode, h.Cost)
		} else if n >= 6 && h.judged {
			s.answer(h)
		}
	case n >= 8:
		s.pass()
	}
}

// start begins a request, and checks what memory answers.
func (s *schedule) start(t *testing.T) {
	t.Helper()
	r := core.Request{Key: ana, Limits: s.limits, Cost: 1 + s.rng.IntN(3)*s.rng.IntN(2)}
	if s.corrections {
		switch s.rng.IntN(12) {
		case 0:
			r.Mode, r.Cost = core.Force, s.rng.IntN(6)-1
		case 1:
			r.Mode, r.Cost, r.Undo = core.Force, -1, true
		}
	}
	h := s.begin(r)
	s.sayf("%v %d, asked: %t", r.Mode, r.Cost, h.asked)
	if !h.done {
		s.open = append(s.open, h)
		return
	}
	s.check(t, h)
}

// check holds an answer from memory against the store. Beside what is open there
// must be no room. Where nothing is, all of it must be true.
func (s *schedule) check(t *testing.T, h *held) {
	t.Helper()
	beside := 0
	for _, o := range s.open {
		if o.Mode == core.Force {
			return // it may make room
		}
		beside += o.Cost
	}
	// Who asks may hang up, so what another instance did is seen two ages later;
	// and while something is open, it is claimed of what was known.
	if s.clock.Now().Sub(s.wrote) <= 2*s.age || beside > 0 && (s.elsewhere || s.doubt) {
		return
	}
	s.refused++
	require.False(t, s.look(s.limits, h.Cost+beside).Allowed, "it fits beside %d\n%s", beside, strings.Join(s.log, "\n"))
	if beside > 0 || !s.still || len(s.fates) > 0 {
		return // a slow answer is told a little longer, and of one that is lost nobody knows what was charged
	}
	s.exact++
	want := s.look(s.limits, h.Cost)
	for i, l := range s.limits {
		if l.Algorithm == core.SlidingLog {
			want.Levels[i].Remaining = h.res.Levels[i].Remaining // it is not counted up
		}
	}
	require.Equal(t, want.Levels, h.res.Levels, strings.Join(s.log, "\n"))
}

func (s *schedule) answer(h *held) {
	f := arrives
	if len(s.fates) > 0 && s.rng.IntN(10) == 0 {
		f = s.fates[s.rng.IntN(len(s.fates))]
	}
	h.end(f)
	s.sayf("%v %d %s, allowed: %t", h.Mode, h.Cost, f, h.res.Allowed)
	for i, o := range s.open {
		if o == h {
			s.open = append(s.open[:i], s.open[i+1:]...)
			break
		}
	}
	s.doubt = (len(s.open) > 0 || f != arrives) && (s.doubt || !h.res.Allowed)
}

// pass has time pass, or another instance write.
func (s *schedule) pass() {
	if s.elsewhere && s.rng.IntN(20) == 0 {
		r := core.Request{Key: ana, Limits: s.limits, Cost: s.rng.IntN(9) - 2, Mode: core.Force}
		_, _ = s.next.reference.Take(context.Background(), r)
		s.wrote = s.clock.Now()
		s.sayf("elsewhere %d", r.Cost)
		return
	}
	var wait time.Duration
	for _, l := range s.look(s.limits, 1).Levels {
		wait = max(wait, l.RetryAfter)
	}
	d := randomStep(s.rng, wait)
	if s.rng.IntN(2) == 0 {
		d = time.Duration(s.rng.Int64N(int64(5 * time.Millisecond)))
	}
	if len(s.open) == 0 || !s.still {
		s.clock.Advance(d)
	}
}

// TestInAnyOrderOfAnswersNothingIsRefusedThatFits, and once all is answered memory
// tells what the store would.
func TestInAnyOrderOfAnswersNothingIsRefusedThatFits(t *testing.T) {
	t.Parallel()
	for name, besides := range map[string]trouble{
		"nothing":     {},
		"errors":      {fates: []fate{fails}},
		"hang-ups":    {fates: []fate{hangsUp}},
		"panics":      {fates: []fate{panics}},
		"corrections": {corrections: true},
		"elsewhere":   {elsewhere: true, fates: []fate{fails, hangsUp, panics}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused, exact := 0, 0
			for _, age := range []time.Duration{10 * time.Millisecond, time.Second, time.Hour} {
				for _, still := range []bool{false, true} {
					for i, quota := range severalQuotas {
						for seed := range uint64(seeds) {
							s := &schedule{trouble: besides, rng: rand.New(rand.NewPCG(seed, uint64(i))), limits: quota.Limits(), age: age, still: still}
							synctest.Test(t, s.run)
							refused, exact = refused+s.refused, exact+s.exact
						}
					}
				}
			}
			require.Greater(t, refused, 10*seeds, "or it proves nothing")
			require.Equal(t, len(besides.fates) == 0, exact > 10*seeds)
		})
	}
}

func (s *schedule) run(t *testing.T) {
	s.gated = newGated(denystore.WithMaxAge(s.age))
	s.wrote = s.clock.Now().Add(-3 * s.age)
	for range 1500 {
		s.step(t)
	}
	for len(s.open) > 0 {
		s.answer(s.open[0])
	}
}
