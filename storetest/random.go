package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

const (
	randomSeed  = 20261002 // the same walk every time, so that a failure comes again
	randomSteps = 2500     // in each of the four walks
)

// random holds the store against core.Apply on 10,000 steps: any mode, cost,
// count and order of limits, several keys, time moving both ways.
func (o opener) random(t *testing.T) {
	for _, w := range []struct {
		name   string
		seed   uint64
		limits [][]core.Limit
	}{
		{"gcra", 1, [][]core.Limit{
			list(gcra(10, time.Minute)), list(burst(20, sec, 40)), list(burst(7, sec, 3)), list(burst(3, 10*ms, 500)), list(gcra(1, 10*sec)),
		}},
		{"fixed_window", 2, [][]core.Limit{
			list(fixed(5, 10*sec)), list(fixed(12, 10*sec)), list(fixed(7, 7*sec)), list(fixed(3, 1500*ms)), list(gcra(10, time.Minute)),
		}},
		{"sliding_log", 3, [][]core.Limit{
			list(sliding(5, 10*sec)), list(sliding(9, 10*sec)), list(sliding(30, 7*sec)), list(sliding(3, 1500*ms)), list(gcra(10, time.Minute)),
		}},
		{"windows", 4, [][]core.Limit{
			list(gcra(5, sec), fixed(20, 10*sec)), list(gcra(8, sec), fixed(11, 10*sec)),
			list(gcra(10, 10*sec), burst(3, sec, 6)), list(fixed(6, 4*sec), sliding(9, 7*sec)),
			list(gcra(4, 2*sec), sliding(5, 3*sec), sliding(9, 10*sec)),
			list(gcra(7, 3*sec), fixed(8, 5*sec), sliding(9, 7*sec), fixed(15, 11*sec)),
			list(gcra(10, time.Minute)),
		}},
	} {
		t.Run(w.name, func(t *testing.T) {
			newWalk(o.open(t), w.limits, randomSeed+w.seed).run(t, randomSteps)
		})
	}
}

// walk is a series of random steps through the buckets of one store.
type walk struct {
	subject

	seed    uint64
	rng     *rand.Rand
	limits  [][]core.Limit
	keys    []*walkKey
	lastKey *walkKey      // most steps stay where the one before was
	lastSet []core.Limit  // as it is asked now
	told    time.Duration // the wait of the last refusal
	back    int           // steps back that were compared afterwards
}

func newWalk(s subject, limits [][]core.Limit, seed uint64) *walk {
	w := &walk{subject: s, seed: seed, limits: limits}
	w.rng = rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // a test's steps must come again, not be secret
	for _, name := range []string{"ana", "bob", "carla"} {
		w.keys = append(w.keys, &walkKey{name: name, buckets: map[string]*walkBucket{}})
	}
	w.lastKey, w.lastSet = w.keys[0], limits[0]
	return w
}

func (w *walk) run(t *testing.T, steps int) {
	t.Helper()
	w.skipUnsupported(t)
	for i := range steps {
		w.choose()
		w.move()
		if w.rng.IntN(200) == 0 {
			w.resetKey(t)
			continue
		}
		w.ask(t, i)
	}
	t.Logf("%d steps, %d of them after a clock that went back", steps, w.back)
}

// skipUnsupported leaves out the sets that the store does not know.
func (w *walk) skipUnsupported(t *testing.T) {
	t.Helper()
	known := slices.DeleteFunc(slices.Clone(w.limits), func(limits []core.Limit) bool {
		_, err := w.store.Take(t.Context(), core.Request{Key: core.Key{ID: "probe"}, Limits: limits, Mode: core.Look})
		return errors.Is(err, core.ErrUnsupported)
	})
	if len(known) < len(w.limits) {
		t.Logf("the store does not support %d of %d sets of limits", len(w.limits)-len(known), len(w.limits))
		w.look(t, core.Key{ID: "probe"}, list(gcra(10, time.Minute)), 1)
	}
	if !slices.ContainsFunc(known, func(limits []core.Limit) bool { return setName(limits) != "plain" || setName(w.limits[0]) == "plain" }) {
		t.Skip("the store does not support any of these limits")
	}
	w.limits, w.lastSet = known, known[0]
}

// choose picks key and limits: mostly those of the step before, often with
// another count, in any order.
func (w *walk) choose() {
	if w.rng.IntN(8) == 0 {
		w.lastKey = w.keys[w.rng.IntN(len(w.keys))]
	}
	if w.rng.IntN(10) == 0 {
		w.lastSet = w.limits[w.rng.IntN(len(w.limits))]
	}
	limits := slices.Clone(w.lastSet)
	w.rng.Shuffle(len(limits), func(i, j int) { limits[i], limits[j] = limits[j], limits[i] })
	w.lastSet = limits
}

// cost is mostly small, at times all that fits and beyond.
func (w *walk) cost() int {
	capacity := w.lastSet[0].Burst
	switch w.rng.IntN(12) {
	case 0:
		return 0
	case 1:
		return capacity
	case 2:
		return capacity + 1 + w.rng.IntN(capacity)
	case 3, 4:
		return 1 + w.rng.IntN(capacity)
	default:
		return 1 + w.rng.IntN(3)
	}
}

func (w *walk) op() op {
	switch n := w.rng.IntN(20); {
	case n < 12:
		return charge(w.cost())
	case n < 15:
		return look(w.cost())
	case n < 18:
		return force(w.cost())
	default:
		return force(-w.cost())
	}
}

func (w *walk) ask(t *testing.T, step int) {
	t.Helper()
	do, now := w.op(), w.clock.Now()
	key := w.lastKey.key()
	b := w.lastKey.bucket(w.lastSet)
	r := core.Request{Key: key, Limits: w.lastSet, Cost: do.cost, Mode: do.mode}
	ref := core.Apply(&b.state, now, r)
	res := w.take(t, r)
	want := answer{allowed: ref.Allowed, took: ref.Charged, levels: ref.Levels[:len(r.Limits)]}
	w.lastKey.note(fmt.Sprintf("%6d  %s  %-11s under %s: %s", step, now.Format("15:04:05.000000"), do, limitsText(r.Limits), want))
	if diff := want.differs(res); diff != "" {
		t.Fatalf("step %d of the walk with seed %d: %s under %s, key %s\n%s\nevery result equals core.Apply, number for number\n%s\n%s",
			step, w.seed, do, limitsText(r.Limits), keyText(key), diff,
			"the last steps of this key and what they should have answered:", strings.Join(w.lastKey.history, "\n"))
	}
	if !ref.Allowed {
		w.told = wait(ref, len(r.Limits))
	}
	if !b.wrote(now, r, ref) {
		w.lastKey.giveUp()
	}
}

// resetKey forgets the chosen set and the plain bucket, here and there.
func (w *walk) resetKey(t *testing.T) {
	t.Helper()
	w.reset(t, w.lastKey.key(), w.lastSet)
	delete(w.lastKey.buckets, setName(w.lastSet))
	delete(w.lastKey.buckets, "plain")
	w.lastKey.note(fmt.Sprintf("        %s  Reset under %s", w.clock.Now().Format("15:04:05.000000"), limitsText(w.lastSet)))
}
