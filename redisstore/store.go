package redisstore

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/puzpuzpuz/xsync/v4"
	"github.com/redis/rueidis"

	"github.com/tierlimit/tierlimit/core"
)

// Store keeps buckets in Redis, so that all instances share one limit. It is
// made by [New] or [Open], is safe for concurrent use and must not be copied.
// It supports every algorithm and set of windows; Result.Now is zero, because
// the time is that of Redis.
type Store struct {
	guard *guard
	keys  *keyMaker
	sets  sets
	lanes lanes
	clock core.Clock // nil: the clock of Redis

	connection atomic.Pointer[connection] // nil until there is one
	opener     *opener                    // nil: the client is the caller's
}

var _ core.Store = (*Store)(nil)

func newStore(opts []Option) *Store {
	o := newOptions(opts)
	return &Store{
		guard: newGuard(o),
		keys:  newKeyMaker(o.prefix, o.secret),
		sets:  sets{known: xsync.NewMap[limitKey, *set]()},
		lanes: lanes{seed: maphash.MakeSeed(), base: time.Now()},
		clock: o.clock,
	}
}

// New makes a store on a client that stays the caller's: single, Cluster or
// Sentinel. See the package comment for the client options that matter. It
// panics when client is nil.
func New(client rueidis.Client, opts ...Option) *Store {
	if client == nil {
		panic("redisstore: New needs a client") //nolint:forbidigo // wiring fault, at start-up
	}
	s := newStore(opts)
	s.connect(client)
	return s
}

// State is what the breaker does; in a Cluster, that of the worst range of
// slots.
func (s *Store) State() State { return s.guard.state() }

// RedisKey is the key under which the store keeps what k spent under limits,
// for support staff. A sliding log beside other windows has a key of its own
// behind it, ":1" and so on.
func (s *Store) RedisKey(k core.Key, limits []core.Limit) string {
	set := s.sets.of(limits)
	if set.lone {
		return s.keys.plain(&k)
	}
	return s.keys.set(&k, set.name)
}

// Take does r in one script call; see [core.Store]. The errors are
// [ErrTimeout], [ErrUnreachable], [ErrRefused], [ErrBusy], [ErrPaused] and
// [ErrReply], or the error of ctx when it had ended before.
func (s *Store) Take(ctx context.Context, r core.Request) (core.Result, error) {
	set := s.sets.of(r.Limits)
	switch {
	case set.lone:
		return s.takeLone(ctx, set, &r)
	case set.rates != nil && r.Mode == core.Charge && r.Cost > 0:
		return s.takePair(ctx, set, &r)
	default:
		return s.takeWindows(ctx, set, &r)
	}
}

// Reset forgets key under these limits, and its plain bucket; see
// [core.Store]. It overwrites and lets expire at once, so that no right to
// delete is needed.
func (s *Store) Reset(ctx context.Context, key core.Key, limits []core.Limit) error {
	keys := []string{s.keys.plain(&key)}
	if set := s.sets.of(limits); !set.lone {
		keys = append(keys, set.keys(s.keys.set(&key, set.name))...)
	}
	errs := make([]error, 0, len(keys))
	for _, k := range keys {
		errs = append(errs, s.forget(ctx, k))
	}
	return errors.Join(errs...)
}

func (s *Store) forget(ctx context.Context, key string) (err error) {
	conn, p, err := s.enter(ctx, key)
	if err != nil {
		return err
	}
	check := func() (struct{}, error) {
		err := conn.client.Do(s.guard.shared(), conn.client.B().Set().Key(key).Value("0").Xx().PxMilliseconds(1).Build()).Error()
		if rueidis.IsRedisNil(err) {
			err = nil // XX: there was none
		}
		return struct{}{}, err
	}
	if s.guard.inHurry(ctx) {
		_, err := hurry(ctx, p, check)
		return err
	}
	err = errPanicked
	defer func() { err = p.leave(err, false) }()
	_, err = check()
	return err
}

// integer calls a script of one key that replies with one number.
func (s *Store) integer(ctx context.Context, script *rueidis.Lua, key string, args []string) (int64, error) {
	conn, p, err := s.enter(ctx, key)
	if err != nil {
		return 0, err
	}
	c := &call{Context: s.guard.shared(), values: ctx, key: [1]string{key}}
	if s.guard.inHurry(ctx) {
		return hurry(ctx, p, func() (int64, error) { return c.integer(script, conn.client, args) })
	}
	return c.integerBy(p, script, conn.client, args)
}

// integers calls a script that replies with so many numbers. Keys may be nil for
// the first alone.
func (s *Store) integers(ctx context.Context, script *rueidis.Lua, first string, keys, args []string, want int) ([]int64, error) {
	conn, p, err := s.enter(ctx, first)
	if err != nil {
		return nil, err
	}
	c := &call{Context: s.guard.shared(), values: ctx, key: [1]string{first}}
	all := keys
	if keys == nil {
		all = c.key[:]
	}
	if s.guard.inHurry(ctx) {
		return hurry(ctx, p, func() ([]int64, error) { return c.integers(script, conn.client, all, args, want) })
	}
	return c.integersBy(p, script, conn.client, all, args, want)
}

// withNow appends the time of a test's clock.
func (s *Store) withNow(args []string) []string {
	if s.clock == nil {
		return args
	}
	return append(slices.Clip(args), s.now())
}

// now is the time of a test's clock; "" for the clock of Redis.
func (s *Store) now() string {
	if s.clock == nil {
		return ""
	}
	return strconv.FormatInt(max(s.clock.Now().UnixMicro(), 0), 10)
}
