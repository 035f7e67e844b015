// Package httplimit limits a net/http API by the caller's plan, and has what all
// HTTP adapters share: rate limit headers, refusals, the address of a client
// behind proxies. It fits the standard mux, chi, gorilla and whatever else takes
// func(http.Handler) http.Handler.
//
//	identify := func(r *http.Request) (core.Identity, error) {
//		account, ok := accounts[r.Header.Get("X-Api-Key")]
//		if !ok {
//			return core.Identity{}, nil // nobody: core.OnMissing decides
//		}
//		return core.Identity{Key: account.ID, Tier: account.Plan}, nil
//	}
//	mux.HandleFunc("GET /data", data)                                   // costs 1
//	mux.Handle("POST /report", httplimit.Cost(5)(http.HandlerFunc(report)))
//	http.ListenAndServe(":8080", httplimit.New(limiter, identify)(mux))
//
// New goes around the mux, a part of it or a single handler, also around
// several of them: a request pays once. ginlimit and echolimit are its twins.
//
// It trusts no proxy unless told to. It sets no CORS headers: browsers show
// Retry-After and the rate headers to scripts only when the application names
// them in Access-Control-Expose-Headers; see [ExposedHeaders].
package httplimit
