// Package record keeps what the limiters of one HTTP request have decided, for
// the adapters. A request has one record, in its context, whatever number of
// limiters and prices it meets: so a bucket is charged once, a price is never
// lost, and a refusal gives back what earlier limiters took.
package record
