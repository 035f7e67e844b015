package redistest_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/redistest"
)

// refused says whether nothing listens on an address.
func refused(addr string) bool {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return true
	}
	_ = c.Close()
	return false
}

func TestServerStartsEmptyAndRestartsEmptyOnItsPort(t *testing.T) {
	t.Parallel()
	began := time.Now()
	s := redistest.Start(t)
	t.Logf("a server took %v", time.Since(began))
	assert.Equal(t, "OK", s.Do(t, "set", "a", 1))
	assert.Equal(t, []string{"a"}, s.Keys(t, "*"))
	assert.Equal(t, []any{"1", nil}, s.Do(t, "mget", "a", "b"))
	assert.Equal(t, int64(2), s.Do(t, "incr", "a"))
	_, err := s.Try("lpush", "a", 1)
	var refusal redistest.ReplyError
	require.ErrorAs(t, err, &refusal)
	assert.Contains(t, refusal, "WRONGTYPE")

	addr := s.Addr()
	s.Restart(t)
	assert.Equal(t, addr, s.Addr())
	assert.Empty(t, s.Keys(t, "*"))
	assert.Equal(t, "OK", s.Do(t, "set", "a", 1))

	s.Stop(t)
	assert.True(t, refused(addr))
	s.Restart(t)
	assert.Empty(t, s.Keys(t, "*"))
	s.Kill(t)
	assert.True(t, refused(addr))
}

func TestServerIsStartedOnAReservedAddress(t *testing.T) {
	t.Parallel()
	redistest.Need(t)
	addr := redistest.Reserve(t)
	assert.True(t, refused(addr))
	s := redistest.StartAt(t, addr)
	assert.Equal(t, addr, s.Addr())
	assert.False(t, refused(addr))
}

func TestFrozenServerAcceptsAndExecutesLater(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	client := s.Client(t)
	s.Freeze(t)
	assert.False(t, refused(s.Addr()))

	answer := make(chan error, 1)
	go func() {
		answer <- client.Do(t.Context(), client.B().Set().Key("late").Value("1").Build()).Error()
	}()
	select {
	case err := <-answer:
		t.Errorf("a frozen server answered: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	s.Thaw(t)
	require.NoError(t, <-answer)
	assert.Equal(t, []string{"late"}, s.Keys(t, "*"))

	s.Freeze(t)
	s.Stop(t) // Also a frozen one can be told to end.
	s.Restart(t)
	s.Freeze(t) // Cleanup ends it in any state, and the client without a wait.
}

func TestServerWithPasswordAndUser(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t,
		redistest.WithPassword("secret"),
		redistest.WithUser("limiter", "on", ">word", "~trt:*", "+get", "+set", "+ping"))
	s.Do(t, "ping")
	ctx := t.Context()

	_, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{s.Addr()}, DisableCache: true, ForceSingleClient: true})
	require.ErrorContains(t, err, "NOAUTH")

	admin := s.Client(t)
	require.NoError(t, admin.Do(ctx, admin.B().Set().Key("a").Value("1").Build()).Error())
	limiter := s.Client(t, redistest.As("limiter", "word"))
	require.NoError(t, limiter.Do(ctx, limiter.B().Set().Key("trt:a").Value("1").Build()).Error())
	require.ErrorContains(t, limiter.Do(ctx, limiter.B().Get().Key("a").Build()).Error(), "NOPERM")
	require.ErrorContains(t, limiter.Do(ctx, limiter.B().Del().Key("trt:a").Build()).Error(), "NOPERM")
	assert.Positive(t, s.CommandStats(t)["del"].Rejected)
}

func TestServerWithTLSSpeaksNothingElse(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.WithTLS())
	s.Do(t, "set", "a", 1)
	client := s.Client(t)
	got, err := client.Do(t.Context(), client.B().Get().Key("a").Build()).ToString()
	require.NoError(t, err)
	assert.Equal(t, "1", got)

	o := s.ClientOption()
	o.TLSConfig = nil
	_, err = rueidis.NewClient(o)
	require.Error(t, err, "plain text")
	o.TLSConfig = s.TLS()
	o.TLSConfig.RootCAs = nil
	o.Dialer.Timeout = 10 * time.Second // The system's authorities are read.
	_, err = rueidis.NewClient(o)
	require.ErrorContains(t, err, "certificate")
}

func TestServerWithMaxMemoryAndConfig(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.WithMaxMemory("3mb", "noeviction"), redistest.WithConfig("databases 3"))
	assert.Equal(t, []any{"databases", "3"}, s.Do(t, "config", "get", "databases"))
	_, err := s.Try("set", "big", strings.Repeat("x", 4<<20))
	if err == nil { // A single value may pass the bound; the next may not.
		_, err = s.Try("set", "more", 1)
	}
	var refusal redistest.ReplyError
	require.ErrorAs(t, err, &refusal)
	assert.Contains(t, refusal, "OOM")
}

func TestCommandsAreCountedAndShown(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	m := s.Monitor(t)
	for range 3 {
		s.Do(t, "set", "a", "line\r\n\"quoted\" \x00\xff")
	}
	s.Do(t, "eval", "return redis.call('get', KEYS[1])", 1, "a")
	seen := m.Stop(t)
	require.Len(t, seen, 5)
	assert.Equal(t, []string{"set", "a", "line\r\n\"quoted\" \x00\xff"}, seen[2].Words)
	assert.Contains(t, seen[2].Client, "127.0.0.1:")
	assert.Equal(t, redistest.Command{Client: "lua", Words: []string{"get", "a"}}, seen[4])

	stats := s.CommandStats(t)
	assert.Equal(t, int64(3), stats["set"].Calls)
	assert.Equal(t, int64(1), stats["get"].Calls)
	assert.Positive(t, stats["eval"].Usec)

	killed := s.Monitor(t)
	s.Do(t, "get", "a")
	redistest.Wait(t, time.Second, "the command to be shown", func() error {
		if len(killed.Commands()) == 0 {
			return assert.AnError
		}
		return nil
	})
	s.Kill(t)
	assert.Len(t, killed.Stop(t), 1)
}
