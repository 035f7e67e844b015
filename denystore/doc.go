// Package denystore answers repeated refusals without asking the store again: a
// caller over quota who hammers at one price costs the shared store one check a
// second, and one for each unit that the caller is granted.
//
//	shared, err := redisstore.Open(option)
//	...
//	store := denystore.New(shared)
//	limiter, err := core.New(store, plans)
//
// A refusal is kept until its cost fits again. Until then the same or a dearer
// charge by the same caller under the same limits is refused from memory, with
// the wait counted down; whatever else is asked goes to the store.
//
// # How old a refusal may be
//
// Each [WithMaxAge], one second unless told otherwise, one request asks the store
// while the others are still answered from memory. What nobody asked about for
// two ages is believed no longer, and is asked anew by all who come at once.
//
// An error of the store, or a panic in it, forgets, so that nobody is refused for
// long by a store that is away. That a caller hangs up forgets nothing, or
// hammering and hanging up would get around the cache; but when all who ask for
// two ages hang up, everybody asks until somebody is answered.
//
// # Many at once
//
// Those who come before the first refusal is back all ask: 256 callers at once,
// 256 times. When a unit fits again under GCRA limits, whoever comes first on
// each instance claims it and asks. Until that is answered, and for the age at
// most, the others on that instance are answered as if it had been charged:
// refused where their cost would not fit beside it. Should another instance be
// faster or the caller hang up, they were refused for the time of one check what
// might have fitted; of several claims at once, until the last is answered. A
// refusal ends early by as long as its answer took, so a unit may be asked for
// twice.
//
// Everybody asks at the end of a fixed window or of a wait for a sliding log, of
// which many may fit at once, and when nobody came for an age after a unit
// fitted.
//
// # What makes it forget
//
// A give-back or Reset through this store forgets the refusal; those of other
// instances are seen up to the age later. An allowed charge and the give-back of
// a refused Raise, Request.Undo, tell what is left, so a refusal stays as long
// as its cost does not fit into that.
//
// # What is still asked
//
// A price told behind the limiter, by an adapter's Cost or Decision.Raise, is
// two requests: when the rest is refused from memory, the first unit and its
// give-back still cost the store two calls. Told up front, by WithCost, it costs
// none. Where two limiters stand on one route, a refusal by the second costs
// the first's bucket a charge and a refund, two calls as well. Under a sliding
// log, a charge dearer than the one refused is asked for; and what Remaining
// tells of a log is not counted up while a refusal is answered from memory.
//
// # Beside a fallback
//
// Put it around the shared store alone,
// fallbackstore.New(denystore.New(shared), local): what the local store refuses
// needs no cache, and is not kept. When the shared store goes away, what is
// remembered is good until it is of age, so for up to a second some refusals are
// not Degraded.
//
// # What it costs
//
// A bounded number of refusals, see [WithMaxKeys], in cells that new ones
// overwrite, those first that nobody asks about. It has no goroutine and takes
// no lock. Callers are kept as hashes only.
package denystore
