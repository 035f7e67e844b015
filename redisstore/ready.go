package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/tierlimit/tierlimit/core"
)

// Ready waits until a check would be answered, for services that do not want to
// start without Redis; it runs the scripts and charges nobody. A missing right
// or a wrong password is returned at once, as [ErrRefused] with the answer of
// Redis. Otherwise the error is that of ctx with what went wrong last, or
// [ErrUnreachable] once the store is closed. It does not need [Open]: on the
// caller's own client it waits for an answer as well.
func (s *Store) Ready(ctx context.Context) error {
	if s.opener != nil {
		select {
		case <-s.opener.connected:
		case <-s.opener.done:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), s.opener.notYet())
		}
	}
	for {
		err := s.try(ctx)
		if err == nil || s.closed() {
			return err
		}
		if lacksRights(err) {
			return errors.Join(err, s.missing())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(firstPause):
		}
	}
}

// nobody is whom Ready asks for.
var nobody = core.Key{Tier: "ready"}

// try does what a check of a lone window does: it runs a script that reads, and
// writes to a key that does not exist.
func (s *Store) try(ctx context.Context) error {
	limits := []core.Limit{{Count: 1, Window: time.Second, Burst: 1}}
	_, err := s.Take(ctx, core.Request{Key: nobody, Limits: limits, Mode: core.Look})
	if err != nil {
		return err
	}
	return s.Reset(ctx, nobody, limits)
}

// missing sends the commands of the script one by one, because a script's error
// does not name the one that was refused.
func (s *Store) missing() error {
	conn := s.connection.Load()
	if conn == nil {
		return nil
	}
	key := s.keys.plain(&nobody)
	for _, command := range []rueidis.Completed{
		conn.client.B().Get().Key(key).Build(),
		conn.client.B().Time().Build(),
		conn.client.B().Set().Key(key).Value("0").Xx().PxMilliseconds(1).Build(),
	} {
		if err := classify(conn.client.Do(s.guard.shared(), command).Error()); lacksRights(err) {
			return err
		}
	}
	return nil
}

// lacksRights tells whether err will stay until somebody changes the users of
// Redis or the options.
func lacksRights(err error) bool {
	var answer *rueidis.RedisError
	if !errors.Is(err, ErrRefused) || !errors.As(err, &answer) {
		return false
	}
	for _, class := range []string{"NOPERM", "NOAUTH", "WRONGPASS", "can't run this command"} {
		if strings.Contains(answer.Error(), class) {
			return true
		}
	}
	return false
}
