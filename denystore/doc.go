// Package denystore answers repeated refusals without asking the store again: a
// caller over quota who hammers costs the shared store one check a second.
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
// nobody is refused for long by a store that is away. Nobody waits for another:
// those who come before the first refusal is back all ask, 256 callers at once
// up to 256 times, and so again when a unit fits.
//
// A give-back or Reset through this store forgets the refusal; those of other
// instances are seen up to the age later. The give-back of a refused Raise,
// Request.Undo, does not, so a charge that it makes room for may be refused for
// up to the age.
//
// With a fallback, put it around the shared store alone,
// fallbackstore.New(denystore.New(shared), local): what the local store refuses
// needs no cache. When the shared store goes away, what is remembered is good
// until it is of age, so for up to a second some refusals are not Degraded.
//
// It keeps a bounded number of refusals, in cells that new ones overwrite, has
// no goroutine and takes no lock. Callers are kept as hashes only.
//
// # What it does not do
//
// Remaining of a sliding log is not counted up while a refusal is answered from
// memory, and a charge dearer than the one refused is asked for under one.
package denystore
