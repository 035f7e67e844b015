package redisstore

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/redis/rueidis"
)

// Errors of a [Store], for callers to branch on with [errors.Is]. The cause is
// wrapped behind them. Beside these, the caller's own context error is returned
// as it is when it ended before anything was sent, and in front of [ErrTimeout]
// when its deadline was earlier than the store's.
var (
	// ErrTimeout means that Redis did not answer in time. The check may have
	// been charged all the same, when Redis gets to it.
	ErrTimeout = errors.New("redisstore: no answer in time")
	// ErrUnreachable means that there is no connection, or it broke. A check
	// that was under way may have been charged.
	ErrUnreachable = errors.New("redisstore: redis is unreachable")
	// ErrRefused means that Redis answered with an error: READONLY, OOM, NOPERM,
	// LOADING, CLUSTERDOWN and the like. Nothing was charged, but for a set with
	// sliding logs whose user lacks +set or +pexpire, the last to be called:
	// [Store.Ready] tells the first at start.
	ErrRefused = errors.New("redisstore: redis refused the command")
	// ErrBusy means that as many checks are under way as [WithMaxInFlight]
	// allows. Nothing was sent.
	ErrBusy = errors.New("redisstore: too many checks in flight")
	// ErrPaused means that the breaker is open. Nothing was sent.
	ErrPaused = errors.New("redisstore: paused after failures")
	// ErrReply means that the reply made no sense.
	ErrReply = errors.New("redisstore: malformed reply")
)

// classify wraps err, which rueidis returned, with its sentinel.
func classify(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%w: %w", ErrTimeout, err)
	case isRedisError(err):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	case errors.Is(err, errParse):
		return fmt.Errorf("%w: %w", ErrReply, err)
	default:
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
}

var errParse = errors.New("unexpected reply")

func isRedisError(err error) bool {
	_, ok := rueidis.IsRedisErr(err)
	return ok
}

// breaks tells whether a failure says that Redis cannot be talked to, so that
// the breaker counts it. An error that Redis itself answered does not.
func breaks(err error) bool {
	return errors.Is(err, ErrTimeout) || errors.Is(err, ErrUnreachable)
}
