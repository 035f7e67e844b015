package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// historySize is how many steps of a key a failure shows.
const historySize = 30

// walkKey is one key and what the reference holds of it. When a store may or
// may not have forgotten some of it, the key is given up for a new one.
type walkKey struct {
	name    string
	lives   int
	buckets map[string]*walkBucket // by set
	history []string
}

func (k *walkKey) key() core.Key {
	return core.Key{Tier: "pro", ID: fmt.Sprintf("%s:%d", k.name, k.lives)}
}

func (k *walkKey) bucket(limits []core.Limit) *walkBucket {
	name := setName(limits)
	if k.buckets[name] == nil {
		k.buckets[name] = &walkBucket{}
	}
	return k.buckets[name]
}

func (k *walkKey) note(line string) {
	if len(k.history) == historySize {
		k.history = k.history[1:]
	}
	k.history = append(k.history, line)
}

// giveUp goes on under a key that was never used.
func (k *walkKey) giveUp() {
	k.lives++
	clear(k.buckets)
	k.history = nil
}

// walkBucket is the reference state of one bucket, and the moments at which a
// part of it runs out. A state of several windows runs out part by part, and a
// log entry by entry: core.State.Expires tells only of the last.
type walkBucket struct {
	state  core.State
	ends   []time.Time // of the windows, as the last step that could write left them
	leaves []time.Time // of everything that any log may hold
	lapsed time.Time   // the latest of all these that the clock has passed
	high   time.Time   // the latest that the clock has shown
}

// lapse notes what has run out by now.
func (b *walkBucket) lapse(now time.Time) {
	passed := func(end time.Time) bool {
		if end.After(now) {
			return false
		}
		if end.After(b.lapsed) {
			b.lapsed = end
		}
		return true
	}
	for _, end := range b.ends {
		passed(end)
	}
	b.leaves = slices.DeleteFunc(b.leaves, passed)
	if now.After(b.high) {
		b.high = now
	}
}

// wrote notes what r has left at now. It is false when what a store answers
// next depends on what it has forgotten.
func (b *walkBucket) wrote(now time.Time, r core.Request, res core.Result) (sure bool) {
	if b.state.Expires().IsZero() {
		if r.Mode == core.Force {
			b.lapsed = now // a store may have written a full bucket down
		}
		return true
	}
	if r.Mode == core.Look || r.Mode == core.Charge && r.Cost == 0 {
		return true // it may have been shown a mend that nothing has written
	}
	sure = true
	b.ends = b.ends[:0]
	for i, l := range r.Limits {
		reset := res.Levels[i].ResetAfter
		b.ends = append(b.ends, now.Add(reset))
		switch {
		case l.Algorithm == core.SlidingLog:
			b.leaves = append(b.leaves, now.Add(l.Window)) // no entry is logged at another moment than a step's
		case l.Algorithm == core.FixedWindow && reset == 0 && now.Before(b.high):
			// An emptied window may begin ahead of now, by a clock's jitter. When
			// it is forgotten, the next charge counts in an earlier window.
			sure = false
		}
	}
	b.lapse(now)
	return sure
}
