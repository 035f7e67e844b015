package redisstore

import (
	"context"
	"errors"

	"github.com/redis/rueidis"
)

// connection is a client and what is known of it.
type connection struct {
	client  rueidis.Client
	cluster bool
}

func (s *Store) connect(client rueidis.Client) {
	s.connection.Store(&connection{client: client, cluster: client.Mode() == rueidis.ClientModeCluster})
}

// enter lets a check of key through, with the connection to use.
func (s *Store) enter(ctx context.Context, key string) (*connection, pass, error) {
	conn := s.connection.Load()
	if conn == nil {
		if err := ctx.Err(); err != nil {
			return nil, pass{}, err //nolint:wrapcheck // the caller's own, as it is
		}
		return nil, pass{}, s.opener.notYet()
	}
	part := 0
	if conn.cluster {
		part = int(slot(key)) / (slots / ranges)
	}
	b := s.guard.breakers[part]
	p, err := s.guard.enter(ctx, b)
	if err != nil && errors.Is(err, ErrBusy) && b.mayListen() {
		go s.listen(conn, b, key)
	}
	return conn, p, err
}

// listen finds out whether Redis is there, where the callers gave up so soon
// that none of them saw an answer.
func (s *Store) listen(conn *connection, b *breaker, key string) {
	_, err := caught(func() (struct{}, error) {
		return struct{}{}, conn.client.Do(s.guard.shared(), conn.client.B().Get().Key(key).Build()).Error()
	})
	b.leave(ticket{}, rueidis.IsRedisNil(err) || !breaks(classify(err)), false)
}
