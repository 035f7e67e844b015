package redisstore

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/rueidis"
)

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

// integer is the one number of a reply.
func (c *call) integer(script *rueidis.Lua, client rueidis.Client, args []string) (int64, error) {
	n, err := script.Exec(c, client, c.key[:], args).ToInt64()
	return n, parsed(err)
}

// integerBy is integer, and leaves p also when the client panics.
func (c *call) integerBy(p pass, script *rueidis.Lua, client rueidis.Client, args []string) (n int64, err error) {
	err = errPanicked
	defer func() { err = p.leave(err, false) }()
	n, err = c.integer(script, client, args)
	return n, err
}

// untilMoved is how long to wait for keys of a slot that a Cluster is moving.
const untilMoved = 2 * time.Millisecond

// integers are the numbers of a reply, which has so many.
func (c *call) integers(script *rueidis.Lua, client rueidis.Client, keys, args []string, want int) ([]int64, error) {
	n, err := script.Exec(c, client, keys, args).AsIntSlice()
	for isTryAgain(err) && c.pause(untilMoved) {
		// Some of the keys have moved and some have not, so nothing was done.
		n, err = script.Exec(c, client, keys, args).AsIntSlice()
	}
	if err == nil && len(n) != want {
		err = unexpected(len(n), want)
	}
	return n, parsed(err)
}

// integersBy is integers, and leaves p also when the client panics.
func (c *call) integersBy(p pass, script *rueidis.Lua, client rueidis.Client, keys, args []string, want int) (n []int64, err error) {
	err = errPanicked
	defer func() { err = p.leave(err, false) }()
	n, err = c.integers(script, client, keys, args, want)
	return n, err
}

func isTryAgain(err error) bool {
	if err == nil {
		return false
	}
	e, ok := rueidis.IsRedisErr(err)
	return ok && e.IsTryAgain()
}

// pause waits for d, or tells that there is no time left.
func (c *call) pause(d time.Duration) bool {
	select {
	case <-c.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// parsed tells a reply that could not be read from one that did not come.
func parsed(err error) error {
	if rueidis.IsParseErr(err) || rueidis.IsRedisNil(err) {
		return fmt.Errorf("%w: %w", errParse, err)
	}
	return err
}
