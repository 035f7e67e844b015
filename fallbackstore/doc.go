// Package fallbackstore limits on locally while the shared store fails, so that
// an outage neither opens an API to everybody nor closes it.
//
//	shared, err := redisstore.Open(option)
//	...
//	local := memstore.New()
//	store := fallbackstore.New(shared, local, fallbackstore.WithShare(0.5)) // two instances
//	limiter, err := core.New(store, plans)
//
// While the shared store answers with an error, requests are judged by the
// local one, by the same quotas, of which [WithShare] grants each instance its
// part. Such decisions are Degraded. The shared store is asked first every
// time, so it should fail fast, as redisstore does, and it is back as soon as
// it answers.
//
// # What a switch admits
//
// An instance that falls back has a full local bucket of its share, since
// nobody knows what the shared one held. So over an outage of length t, all n
// instances with a share of 1/n together admit at most one burst more than
// they would have: the burst of the shared bucket before, one burst of the
// local ones, and t/T while it lasts. 10 a minute on two instances: 5 each at
// once, then one every 12 s each. Coming back hands out nothing: the shared
// bucket has only gone on filling, and the local one keeps what was spent in
// it, so a store that comes and goes every few seconds does not make a fresh
// burst each time. What was spent locally is not poured into the shared store.
//
// A cost that the share's bucket can never hold is refused during an outage:
// /report at 5 under a free plan of 10 needs a share of a half.
//
// # What it does not do
//
// It does not know how many instances there are. It does not mirror charges
// while all is well: a check then costs what the shared store's costs.
package fallbackstore
