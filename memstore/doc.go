// Package memstore keeps buckets in this process: the store for one instance,
// for tests, and for limiting on while a shared store is away.
//
//	store := memstore.New()
//	limiter, err := core.New(store, plans)
//
// A check of a known key takes no lock that another key can hold and allocates
// nothing. There is no goroutine and nothing to close: each check visits a few
// further keys and drops those that have run out, so without traffic nothing
// grows and nothing is freed.
//
// # Memory
//
// A lone GCRA window, the usual plan, costs 21 to 51 bytes a key. The id is
// never kept, so a huge one costs no more. Other sets of windows cost a few
// hundred bytes a key, and a sliding log up to 32 bytes for each unit besides.
// [WithMaxKeys] bounds the number of keys; when it is reached, the key that is
// nearest to being full again goes first, and an exhausted one only when a
// sample holds nothing else, so that a flood of new keys does not free those
// that are over their limit.
//
// # Identity
//
// A key is known by 78 bits of two hashes seeded at random for each store: 64
// and 6 in its cell, 8 in the choice of the shard. That any two of a million
// live keys share a bucket has a chance of 2 in 10^12. With fewer than 2^18 as
// the bound of keys there are fewer shards, and so many fewer keys.
//
// # What it does not do
//
// It is not shared with other processes, and it is forgotten at a restart.
package memstore
