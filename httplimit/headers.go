package httplimit

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// HeaderFunc writes what a decision tells about the caller's quota into h. It
// is called before the handler and again when the decision changes; given the
// same decision it must write the same headers.
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
	var buf [64]byte
	b := strconv.AppendInt(buf[:0], int64(d.Limit.Burst), 10)
	limit := len(b)
	b = strconv.AppendInt(b, int64(d.Level.Remaining), 10)
	remaining := len(b)
	b = strconv.AppendInt(b, reset, 10)

	// One string and one slice for all three, instead of one each.
	text := string(b)
	values := []string{text[:limit], text[limit:remaining], text[remaining:]}
	h[headerLimit] = values[0:1:1]
	h[headerRemaining] = values[1:2:2]
	h[headerReset] = values[2:3:3]
}

// None writes no header. Refusals still carry Retry-After.
func None(http.Header, core.Decision) {}

// Both writes the headers of a, then those of b: Both(XRateLimit, Draft).
func Both(a, b HeaderFunc) HeaderFunc {
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
