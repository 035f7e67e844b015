package httplimit

import (
	"net/http"
	"strconv"

	"github.com/tierlimit/tierlimit/core"
)

var problemType = []string{"application/problem+json"}

// quotaExceeded is the problem type that draft-ietf-httpapi-ratelimit-headers
// asks to be registered for 429.
const quotaExceeded = "https://iana.org/assignments/http-problem-types#quota-exceeded"

// Problem writes the refusal d as problem details (RFC 9457), for
// WithRefused. The status and Retry-After are those of [Refuse].
//
//	{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota exceeded",
//	 "status":429,"detail":"The rate limit of tier \"free\" is exceeded; retry in 6 s.",
//	 "violated-policies":["free"],"retry_after":6}
//
// Other refusals have the type about:blank and the status's text as the title.
func Problem(w http.ResponseWriter, r *http.Request, d core.Decision) {
	if status, wait, silent := head(w, r, &d, problemType); !silent {
		buf, _ := bodies.Get().(*[]byte)
		*buf = problem((*buf)[:0], &d, status, wait)
		send(w, buf)
	}
}

func problem(b []byte, d *core.Decision, status int, wait string) []byte {
	if d.Outcome == core.OverQuota {
		return quotaProblem(b, d, status, wait)
	}
	title := http.StatusText(status)
	if title == "" {
		title = "Request denied"
	}
	b = append(b, `{"type":"about:blank","title":`...)
	b = appendJSON(b, title)
	b = append(b, `,"status":`...)
	b = strconv.AppendInt(b, int64(status), 10)
	if d.Outcome == core.CostExceedsLimit {
		b = append(b, `,"detail":`...)
		b = appendJSON(b, "The request costs "+strconv.Itoa(d.Asked)+", more than tier "+strconv.Quote(d.Tier)+" can ever hold.")
		b = append(b, `,"cost":`...)
		b = strconv.AppendInt(b, int64(d.Asked), 10)
		b = append(b, `,"limit":`...)
		b = strconv.AppendInt(b, int64(d.Limit.Burst), 10)
	}
	return append(b, '}')
}

func quotaProblem(b []byte, d *core.Decision, status int, wait string) []byte {
	detail := "The rate limit of tier " + strconv.Quote(d.Tier) + " is exceeded"
	if wait != "" {
		detail += "; retry in " + wait + " s"
	}
	b = append(b, `{"type":"`+quotaExceeded+`","title":"Quota exceeded","status":`...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, `,"detail":`...)
	b = appendJSON(b, detail+".")
	b = append(b, `,"violated-policies":[`...)
	first := true
	for policy := range policies(*d) {
		if policy.level.RetryAfter == 0 && (wait != "" || policy.limit != d.Limit) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendJSON(b, percentEncode(policy.name)) // as Draft writes it
	}
	b = append(b, ']')
	if wait != "" {
		b = append(b, `,"retry_after":`...)
		b = append(b, wait...)
	}
	return append(b, '}')
}
