package fallbackstore

import "fmt"

// Option sets how a [Store] works. Later options win.
type Option func(*Store)

// WithShare grants each window locally as this part of its count and burst,
// above 0 and at most 1, rounded down but at least 1: 1/n where n instances
// serve. The default is 1, so n instances together admit n times as much. It
// panics on other values, because it is wiring.
func WithShare(share float64) Option {
	if !(share > 0 && share <= 1) { // NaN too
		panic(fmt.Sprintf("fallbackstore: WithShare(%v), must be above 0 and at most 1", share)) //nolint:forbidigo // wiring fault, at start-up
	}
	return func(s *Store) { s.share = share }
}

// WithStateChange tells f when the store falls back and when the primary is
// back. It is called in the path of a request with no lock held, concurrently:
// be quick.
func WithStateChange(f func(State)) Option { return func(s *Store) { s.onChange = f } }
