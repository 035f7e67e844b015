package redisstore

import "context"

// call is one script call under way: its context has the store's deadline and
// the values of the request's, so that a trace goes on. Context and keys lie in
// one allocation.
type call struct {
	context.Context //nolint:containedctx // it is the context, with other values

	values context.Context //nolint:containedctx // as above
	key    [1]string
}

// Value is the request's own.
func (c *call) Value(key any) any { return c.values.Value(key) }
