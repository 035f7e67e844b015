package rival

import "time"

// Check asks for one unit of key.
type Check func(key string) (allowed bool, err error)

// Contender is one library.
type Contender struct {
	Name string
	// Open makes an empty limiter, and what ends it.
	Open func(l Limit) (check Check, stop func())

	Ours   bool // this library
	Hashed bool // keeps a key's 64-bit hash only: two keys may share a count, unnoticed
	Drops  bool // frees keys that have run out, by itself or by a call that its users are told to make
	Clock  bool // heeds Limit.Now
}

// Limit is what a contender is set to: Count a Window, and as many at once
// unless Burst says more.
type Limit struct {
	Count  int
	Window time.Duration
	Burst  int           // 0: Count; above Count where those with fixed windows admit Burst a day
	Keep   time.Duration // how long a key stays at least after its last use, where that is said apart from Window; 0: an hour
	Now    func() time.Time
}

// Endless refuses nothing that a benchmark asks, and lets no bucket become full
// meanwhile: one a minute, 2^26 at once.
var Endless = Limit{Count: 1, Window: time.Minute, Burst: 1 << 26}

// Lasting refuses as little of a key as an hour of a million keys asks for, and
// keeps each in its bucket for an hour after one unit: of a shorter window the
// keys of a long race would run out meanwhile.
var Lasting = Limit{Count: 1, Window: time.Hour, Burst: 1 << 20}

// Once admits one of a key and refuses the others of the day.
var Once = Limit{Count: 1, Window: 24 * time.Hour}

func (l Limit) burst() int { return max(l.Count, l.Burst) }

// fixed is l for those that know no burst apart from the count.
func (l Limit) fixed() (count int, window time.Duration) {
	if l.Burst > l.Count {
		return l.Burst, 24 * time.Hour
	}
	return l.Count, l.Window
}

func (l Limit) keep() time.Duration {
	if l.Keep > 0 {
		return l.Keep
	}
	return time.Hour
}

func (l Limit) now() func() time.Time {
	if l.Now != nil {
		return l.Now
	}
	return time.Now
}

// perSecond is the rate by which a token bucket refills.
func (l Limit) perSecond() float64 { return float64(l.Count) / l.Window.Seconds() }

// Where ours are among All.
const (
	AtStore = iota
	AtLimiter
	AtPrepared
	ours
)

// All are ours, the store alone, a whole limiter and the store as that one asks
// it, and then the rivals.
func All() []Contender {
	all := make([]Contender, ours, ours+8)
	all[AtStore], all[AtLimiter], all[AtPrepared] = Store(), Limiter(), Prepared()
	return append(all, Rivals()...)
}

// Rivals are what a user would pick instead.
func Rivals() []Contender {
	return []Contender{sethvargo(), throttledGCRA(), ulule(), httprateCounter(), tollbooth(), timeRate(), echo()}
}

// must is for what is wrong only if this package is: the limits are its own.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func nothing() {}
