package httplimit

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/tierlimit/tierlimit/internal/record"
)

// Cost prices the handlers behind it at n units, 0 or more. It stands on
// either side of the limiter: before it, n is the price; after it, the request
// is raised to n units in all before the handler runs, or refused, and then
// what it has paid is given back. With several, the one that runs last counts.
// A Cost that no limiter heeds is logged at Error, once. It panics when n is
// below 0.
//
// WithCost is one store call where Cost behind the limiter is two, and its
// Retry-After counts the whole price.
func Cost(n int) func(http.Handler) http.Handler {
	if n < 0 {
		panic(fmt.Sprintf("httplimit: Cost(%d), must be at least 0", n)) //nolint:forbidigo // wiring fault, at start-up
	}
	var once sync.Once
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rec, inner, fresh := enter(r)
			if fresh {
				defer record.Leave(r, inner)
			}
			rec.SetPrice(n)
			if rec.Heeds() {
				if raised(w, inner, rec, n) {
					next.ServeHTTP(w, inner)
				}
				return
			}
			serve(w, inner, rec, next)
			if !rec.Heeds() {
				once.Do(func() { record.ReportUnmet(rec, "httplimit", n) })
			}
		})
	}
}

// raised charges the rest of n, or refuses with the options of the limiter
// whose decision refuses.
func raised(w http.ResponseWriter, r *http.Request, rec *record.Record, n int) bool {
	refusal := rec.Raise(n, w.Header())
	if refusal == nil {
		return true
	}
	if m, ok := refusal.Options.(*middleware); ok {
		m.refuse(w, r, &refusal.Decision)
		return false
	}
	Refuse(w, r, refusal.Decision)
	return false
}

// SetCost says that the request costs n units in all, for what only the
// handler knows, such as the tokens a model has used. Before the check it is
// the price; later it is settled when the handlers are done, also after a
// panic or when the client has gone: charged as far as it fits, or given back.
// The last call counts. An n below 0 is refused, or logged and ignored.
//
// r is the request that a handler was given. Before the check SetCost puts a
// context of its own into r, in place; the request of a middleware around the
// limiter is too late once the limiter is done, and nobody can tell.
func SetCost(r *http.Request, n int) {
	rec, fresh := record.In(r.Context())
	if fresh {
		*r = *r.WithContext(rec)
	}
	rec.SetPrice(n)
}
