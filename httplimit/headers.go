package httplimit

import (
	"math"
	"net/http"
	"strconv"
	"time"
	"unsafe"

	"github.com/tierlimit/tierlimit/core"
)

// HeaderFunc writes what a decision tells about the caller's quota into h. It
// is called before the handler and again when the decision changes, and the
// headers it wrote are taken away then: it must set headers of its own, not add
// to others' (no Vary), and the same ones for the same decision.
type HeaderFunc func(h http.Header, d core.Decision)

// Header names in the form that http.Header keeps them in.
const (
	headerLimit      = "X-Ratelimit-Limit"
	headerRemaining  = "X-Ratelimit-Remaining"
	headerReset      = "X-Ratelimit-Reset"
	headerRetryAfter = "Retry-After"
)

// XRateLimit writes X-RateLimit-Limit, the most that fits at once (10),
// X-RateLimit-Remaining, the units left (9), and X-RateLimit-Reset, the Unix
// time in seconds, rounded up, at which the bucket is full again, all of the
// window that binds. It writes nothing where no window was judged (unlimited,
// refused or allowed by a policy, failed open, a cost that never fits) and
// nothing under a shadow tier. It is the default of all adapters.
func XRateLimit(h http.Header, d core.Decision) {
	if tells(&d) {
		threeHeaders(h, &d, unixCeil(d.At, d.Level.ResetAfter))
	}
}

// XRateLimitDelta is [XRateLimit] with X-RateLimit-Reset as the seconds until
// the bucket is full again, rounded up (6): the other custom of that header.
// Tell your callers which one you send.
func XRateLimitDelta(h http.Header, d core.Decision) {
	if tells(&d) {
		threeHeaders(h, &d, secondsCeil(d.Level.ResetAfter))
	}
}

// threeHeaders writes the X-RateLimit headers of d.
func threeHeaders(h http.Header, d *core.Decision, reset int64) {
	n := &numbers{}
	text := n.text[:0]
	for i, v := range [...]int64{int64(d.Limit.Burst), int64(d.Level.Remaining), reset} {
		begin := len(text)
		text = strconv.AppendInt(text, v, 10)
		n.values[i] = unsafe.String(&text[begin], len(text)-begin) //nolint:gosec // no byte of it is written again
	}
	h[headerLimit], h[headerRemaining], h[headerReset] = n.values[0:1:1], n.values[1:2:2], n.values[2:3:3]
}

// numbers holds the values of three headers and their text, so that they are one
// allocation instead of two each. Numbers that are longer than the text has room
// for, 32 digits in all, cost another.
type numbers struct {
	values [3]string
	text   [32]byte
}

// oneNumber is n, of up to 16 digits, as the only value of a header, in one
// allocation.
func oneNumber(n int64) []string {
	s := &struct {
		value [1]string
		text  [16]byte
	}{}
	b := strconv.AppendInt(s.text[:0], n, 10)
	s.value[0] = unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // no byte of it is written again
	return s.value[:]
}

// None writes no header. Refusals still carry Retry-After.
func None(http.Header, core.Decision) {}

// Both writes the headers of a, then those of b: Both(XRateLimit, Draft). A nil
// one writes nothing.
func Both(a, b HeaderFunc) HeaderFunc {
	if a == nil {
		a = None
	}
	if b == nil {
		b = None
	}
	return func(h http.Header, d core.Decision) {
		a(h, d)
		b(h, d)
	}
}

// tells is whether d has numbers that the caller may rely on.
func tells(d *core.Decision) bool {
	return (d.Outcome == core.Allowed || d.Outcome == core.OverQuota) && d.Enforced()
}

// unixCeil is at + after in Unix seconds, rounded up; 0 before 1970.
func unixCeil(at time.Time, after time.Duration) int64 {
	s := at.Unix()
	more := secondsCeil(after%time.Second + time.Duration(at.Nanosecond()))
	more += int64(after / time.Second)
	if more > 0 && s > math.MaxInt64-more {
		return math.MaxInt64 // past the end of time
	}
	return max(s+more, 0)
}

// secondsCeil is d in whole seconds, rounded up.
func secondsCeil(d time.Duration) int64 {
	s := int64(d / time.Second)
	if d%time.Second > 0 {
		s++
	}
	return s
}

// ExposedHeaders is what a browser has to be told in
// Access-Control-Expose-Headers before a script may read the headers that this
// package writes. It is a fresh slice at each call.
func ExposedHeaders() []string {
	return []string{
		"Retry-After", "RateLimit", "RateLimit-Policy",
		"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset",
	}
}
