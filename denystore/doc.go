// Package denystore answers repeated refusals without asking the store again: a
// caller over quota who hammers at one price costs the shared store one check a
// second, and one for each unit that the caller is granted.
//
//	shared, err := redisstore.Open(option)
//	...
//	store := denystore.New(shared)
//	limiter, err := core.New(store, plans)
//
// A refusal is kept until its cost fits again, at most [WithMaxAge]. Until then
// the same or a dearer charge by the same caller under the same limits is
// refused from memory, with the wait counted down; whatever else is asked goes
// to the store. When the age has passed and the wait has not, one request asks
// and the others are still answered from memory; an error forgets, so that
// nobody is refused for long by a store that is away.
//
// # Many at once
//
// Those who come before the first refusal is back all ask: 256 callers at once,
// 256 times. When a unit fits again under GCRA limits, whoever comes first asks
// for it. Until that is answered, and for the age at most, the others are
// answered as if it had been charged: refused where their cost would not fit
// beside it. Should it not be charged, because another instance was faster or
// the caller hung up, they were refused for the time of one check what might
// have fitted. At the end of a fixed window or a wait for a sliding log many
// may fit at once, so all ask. So they do a [WithMaxAge] after a unit fitted.
//
// # What makes it forget
//
// A give-back or Reset through this store forgets the refusal; those of other
// instances are seen up to the age later. An allowed charge and the give-back of
// a refused Raise, Request.Undo, tell what is left, so a refusal stays as long
// as its cost does not fit into that.
//
// A price told behind the limiter, by an adapter's Cost or Decision.Raise, is
// two requests: when the rest is refused from memory, the first unit and its
// give-back still cost the store two calls. Told up front, by WithCost, it costs
// none. Where two limiters stand on one route, a refusal by the second costs
// the first's bucket a charge and a refund, two calls as well.
//
// # Beside a fallback
//
// Put it around the shared store alone,
// fallbackstore.New(denystore.New(shared), local): what the local store refuses
// needs no cache, and is not kept. When the shared store goes away, what is
// remembered is good until it is of age, so for up to a second some refusals are
// not Degraded.
//
// It keeps a bounded number of refusals, in cells that new ones overwrite, those
// first that nobody asks about. It has no goroutine and takes no lock. Callers
// are kept as hashes only.
//
// # What it does not do
//
// Remaining of a sliding log is not counted up while a refusal is answered from
// memory, and a charge dearer than the one refused is asked for under one.
package denystore
