// Package web tells what a rate limiter adds to a request: every middleware
// beside the bare handler of the same framework, in the same rounds, for
// requests that are allowed and for requests that are refused.
//
//	err := web.Tables(duel.Options{}, os.Stdout)
//
// All get the same request, which carries what net/http puts into a request's
// context, find the caller by the same look-up, keep their state in memory and
// answer into the same recorder. There is no network and no second goroutine,
// and the recorder keeps its header map, which a server makes anew for each
// request, with or without a limiter.
package web
