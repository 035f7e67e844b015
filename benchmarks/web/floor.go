package web

import (
	"context"
	"net/http"
)

type floorKey struct{}

// floorServer limits nobody. It finds the caller, sets headers that are always
// the same, and hands one value on in the request's context, or refuses: before
// it has limited anything, a middleware whose decision a handler can ask for
// costs this much.
func floorServer(count int) (http.Handler, error) {
	value := []string{"1000000000"}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := caller(r)
		h := w.Header()
		h["X-Ratelimit-Limit"], h["X-Ratelimit-Remaining"], h["X-Ratelimit-Reset"] = value, value, value
		if count == one {
			h["Retry-After"], h["Content-Type"] = value, value
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write(refusal)
			return
		}
		answer(w, r.WithContext(context.WithValue(r.Context(), floorKey{}, a.plan)))
	}), nil
}
