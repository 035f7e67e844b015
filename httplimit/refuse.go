package httplimit

import (
	"errors"
	"net/http"
	"strconv"
	"sync"

	"github.com/tierlimit/tierlimit/core"
)

var jsonType = []string{"application/json"}

// Refuse writes the refusal d as compact JSON with its [Status]. Rate headers
// are not its part.
//
//	429 {"error":"rate limit exceeded","tier":"free","retry_after":6}, with Retry-After: 6;
//	    neither where no wait is known, see [RetryAfter]
//	403 {"error":"request cost exceeds tier limit","tier":"free","cost":50,"limit":10}
//	413 {"error":"payload too large"}
//	400 {"error":"failed to read request body"}
//	503 {"error":"service unavailable"}
//	else {"error":"Unauthorized"}, the status's own text
//
// HEAD gets no body, and 499 none because the client is gone. The caller's key
// is in none of them.
func Refuse(w http.ResponseWriter, r *http.Request, d core.Decision) {
	refuse(w, r, &d)
}

func refuse(w http.ResponseWriter, r *http.Request, d *core.Decision) {
	if status, wait, silent := head(w, r, d, jsonType); !silent {
		buf, _ := bodies.Get().(*[]byte)
		*buf = refusal((*buf)[:0], d, status, wait)
		send(w, buf)
	}
}

// Status is the HTTP status of the refusal d: d.Status(), but 413 and 400 for
// a body that [PeekBody] would not or could not read.
func Status(d core.Decision) int { return statusOf(&d) }

func statusOf(d *core.Decision) int {
	switch {
	case d.Outcome == core.OverQuota && !d.Shadowed:
		return http.StatusTooManyRequests // the usual one, without a copy of d
	case d.Outcome == core.IdentifyFailed && errors.Is(d.Err, ErrBodyTooLarge):
		return http.StatusRequestEntityTooLarge
	case d.Outcome == core.IdentifyFailed && errors.Is(d.Err, ErrBodyRead):
		return http.StatusBadRequest
	}
	return d.Status()
}

// bodies are buffers for refusals; a ResponseWriter keeps no byte of what it
// is given.
var bodies = sync.Pool{New: func() any { return new(make([]byte, 0, 512)) }}

// head sends the status and headers of a refusal, of which wait is Retry-After.
// It is silent where no body may follow.
func head(w http.ResponseWriter, r *http.Request, d *core.Decision, contentType []string) (status int, wait string, silent bool) {
	h, status := w.Header(), statusOf(d)
	wait = setRetryAfter(h, d)
	gone := d.Outcome == core.Canceled
	if !gone {
		h["Content-Type"] = contentType
	}
	w.WriteHeader(status)
	return status, wait, gone || r.Method == http.MethodHead
}

// send writes the body. A client that is gone by now is nobody to tell an error to.
func send(w http.ResponseWriter, body *[]byte) {
	_, _ = w.Write(*body)
	bodies.Put(body)
}

// RetryAfter sets the Retry-After header of a refusal that waiting helps with:
// the wait in whole seconds, rounded up, at least 1 (RFC 9110 10.2.3), so that
// a client that waits so long is let in. The adapters set it before a custom
// WithRefused runs. For any other decision it does nothing.
//
// Nor does it where a fallback refused and told no wait: it holds less than the
// plan, so it may never have room for the cost, and nobody knows when the shared
// store is back.
func RetryAfter(h http.Header, d core.Decision) { setRetryAfter(h, &d) }

// setRetryAfter returns the value, "" for none.
func setRetryAfter(h http.Header, d *core.Decision) string {
	if d.Outcome != core.OverQuota || d.Shadowed || !promises(d) {
		return ""
	}
	value := oneNumber(max(secondsCeil(d.Level.RetryAfter), 1))
	h[headerRetryAfter] = value
	return value[0]
}

// promises tells whether d says how long to wait.
func promises(d *core.Decision) bool { return d.Level.RetryAfter > 0 || !d.Degraded }

// refusal appends the JSON body of d; wait is the seconds to tell, "" for none.
func refusal(b []byte, d *core.Decision, status int, wait string) []byte {
	b = append(b, `{"error":`...)
	switch {
	case d.Outcome == core.OverQuota:
		b = append(b, `"rate limit exceeded","tier":`...)
		b = appendJSON(b, d.Tier)
		if wait != "" {
			b = append(b, `,"retry_after":`...)
			b = append(b, wait...)
		}
	case d.Outcome == core.CostExceedsLimit:
		b = append(b, `"request cost exceeds tier limit","tier":`...)
		b = appendJSON(b, d.Tier)
		b = append(b, `,"cost":`...)
		b = strconv.AppendInt(b, int64(d.Asked), 10)
		b = append(b, `,"limit":`...)
		b = strconv.AppendInt(b, int64(d.Limit.Burst), 10)
	case status == http.StatusServiceUnavailable:
		b = append(b, `"service unavailable"`...)
	case status == http.StatusRequestEntityTooLarge && d.Outcome == core.IdentifyFailed:
		b = append(b, `"payload too large"`...)
	case status == http.StatusBadRequest && d.Outcome == core.IdentifyFailed:
		b = append(b, `"failed to read request body"`...)
	case http.StatusText(status) == "":
		b = append(b, `"request denied"`...)
	default:
		b = appendJSON(b, http.StatusText(status))
	}
	return append(b, '}')
}
