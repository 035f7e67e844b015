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
// it answers. With redisstore a request whose own deadline ends first is not
// answered locally: that says nothing of Redis.
//
// # What a switch admits
//
// An instance that falls back has a full local bucket of its share, since
// nobody knows what the shared one held. So there are two buckets of one quota:
// the shared one and, with a share of 1/n each, those of all n instances
// together. Each grants in a span of time t, over whatever switches, one burst
// and t/T, T being the time of one unit. 10 a minute on two instances: 5 each
// at once, then one every 12 s each.
//
// Until the shared store is back, that is one limit and one burst at most. Then
// its bucket stands where it stood, filled for as long as it was away: nothing
// that was spent locally is poured into it. The local bucket keeps what was
// spent in it and fills as slowly, so a store that comes and goes every few
// seconds hands out no fresh burst each time, and twice the quota is the most.
// A Redis that lost its memory comes back with full buckets, one burst more.
//
// A cost that the share's bucket can never hold is refused during an outage:
// /report at 5 under a free plan of 10 needs a share of a half.
//
// # What it does not do
//
// It does not know how many instances there are. It does not mirror charges
// while all is well: a check then costs what the shared store's costs.
package fallbackstore
