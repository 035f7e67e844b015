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
// together. Each fills all the time and grants only while it is asked. With B
// the burst and T the time of one unit, in a span of time t with one outage in
// it all instances admit
//
//	until the shared store is back    t/T + 2B    the limit, and one burst more
//	across its return, at most        t/T + 2B + min(B, outage/T)
//
// because the shared bucket has filled while it was away: nothing that was spent
// locally is poured into it. 10 a minute on two instances, away for 10 s: 10 of
// the shared bucket, 5 of each instance at once and none within the 10 s, and
// then the one that has come back. A store that comes and goes finds each bucket
// as it left it and filled as slowly, so there is never a fresh burst, and twice
// the rate is the most. With fixed windows and sliding logs it is twice the count
// in any window. A Redis that lost its memory hands out a full bucket, as any
// new one.
//
// A share is rounded down, and where it leaves less than one unit of a count the
// unit comes in a longer window: a quarter of 1 a second is 1 in 4 s. A burst is
// at least 1, so of a burst of 1 each of n instances has one.
//
// A cost that the share's bucket can never hold is refused during an outage, and
// told no time to come back, 429 without Retry-After: /report at 5 under a free
// plan of 10 needs a share of a half. A check that timed out may be charged in
// both stores.
//
// # What it does not do
//
// It does not know how many instances there are. It does not mirror charges
// while all is well: a check then costs what the shared store's costs. Refusals
// and looks do not tell that the shared store is back, because a cache may have
// answered, or a Redis that cannot write: while nothing is charged, State stays
// degraded.
package fallbackstore
