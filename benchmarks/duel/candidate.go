package duel

import "time"

// Candidate is one that runs in a [Race].
type Candidate struct {
	Name string
	// Run does n operations, in the calling goroutine or in some of its own,
	// and returns when they are done.
	Run func(n int)
	// Prepare, if there is one, makes ready for a Run of the same n; its time
	// and its allocations are not counted.
	Prepare func(n int)
	// N, if it is above 0, is how many operations a slice does, instead of as
	// many as fill Options.Slice.
	N int
}

// Options of a [Race]. The zero value is 31 rounds of 10 ms slices.
type Options struct {
	Rounds int           // 0: 31
	Slice  time.Duration // about how long a candidate runs in a round; 0: 10 ms
	Seed   uint64        // of the order; the same seed gives the same order
	Quick  bool          // a smoke run, whose figures mean nothing: scenarios build small worlds
}

func (o Options) withDefaults() Options {
	if o.Rounds <= 0 {
		o.Rounds = 31
	}
	if o.Slice <= 0 {
		o.Slice = 10 * time.Millisecond
	}
	return o
}
