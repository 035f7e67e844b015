package fallbackstore

import "fmt"

// Option sets how a [Store] works. Later options win.
type Option func(*Store)

// WithShare grants each window locally as this part of its count and burst,
// above 0 and at most 1 and rounded down: 1/n where n instances serve. Where
// less than one unit is left of a count, it is one unit in a longer window: a
// quarter of 1 a second is 1 in 4 s. A burst is at least 1. The default is 1, so
// n instances together admit n times as much. It panics on other values, because
// it is wiring.
func WithShare(share float64) Option {
	if !(share > 0 && share <= 1) { // NaN too
		panic(fmt.Sprintf("fallbackstore: WithShare(%v), must be above 0 and at most 1", share)) //nolint:forbidigo // wiring fault, at start-up
	}
	return func(s *Store) { s.share = share }
}

// WithStateChange tells f when the store falls back and when the primary is
// back: each change once, in order, by one request at a time, in its path with
// no lock held, so be quick. Changes that come while f runs are told as the one
// that stands then. Where only a part fails, one shard of a Cluster, it is told
// every time another part answers in between: log it with that in mind. A panic
// of f goes to slog and no further.
func WithStateChange(f func(State)) Option { return func(s *Store) { s.onChange = f } }
