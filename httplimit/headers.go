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
	if tells(d) {
		threeHeaders(h, d, unixCeil(d.At, d.Level.ResetAfter))
	}
}

// XRateLimitDelta is [XRateLimit] with X-RateLimit-Reset as the seconds until
// the bucket is full again, rounded up (6): the other custom of that header.
// Tell your callers which one you send.
func XRateLimitDelta(h http.Header, d core.Decision) {
	if tells(d) {
		threeHeaders(h, d, secondsCeil(d.Level.ResetAfter))
	}
}

// threeHeaders writes the X-RateLimit headers of d.
func threeHeaders(h http.Header, d core.Decision, reset int64) {
	n := &numbers{}
	h[headerLimit] = n.value(int64(d.Limit.Burst))
	h[headerRemaining] = n.value(int64(d.Level.Remaining))
	h[headerReset] = n.value(reset)
}

// numbers holds the values of up to three headers and their text, so that they
// are one allocation instead of two each.
type numbers struct {
	values [3]string
	used   int
	text   [3 * 20]byte // 20: the digits and sign of an int64
	end    int
}

// value is n as the only value of a header.
func (s *numbers) value(n int64) []string {
	b := strconv.AppendInt(s.text[s.end:s.end], n, 10)
	s.end += len(b)
	s.values[s.used] = unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // no byte of it is written again
	s.used++
	return s.values[s.used-1 : s.used : s.used]
}

// oneNumber is n as the only value of a header, in one allocation.
func oneNumber(n int64) []string {
	s := &struct {
		value [1]string
		text  [20]byte
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
func tells(d core.Decision) bool {
	return (d.Outcome == core.Allowed || d.Outcome == core.OverQuota) && d.Enforced()
}

// unixCeil is at + after in Unix seconds, rounded up; 0 before 1970.
func unixCeil(at time.Time, after time.Duration) int64 {
	t := at.Add(after)
	s := t.Unix()
	if after > 0 && s < at.Unix() {
		return math.MaxInt64 // past the end of time
	}
	if t.Nanosecond() > 0 && s < math.MaxInt64 {
		s++
	}
	return max(s, 0)
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
