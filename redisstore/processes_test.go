package redisstore_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// sharedEnv tells the tests that run in other processes which Redis to ask, and
// aheadEnv how far ahead their clocks are.
const (
	sharedEnv = "REDISSTORE_SHARED"
	aheadEnv  = "REDISSTORE_AHEAD"
)

// another is a process that runs one of these tests; env is what it is told.
func another(t *testing.T, test string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], "-test.run=^"+test+"$")
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

// shared opens the Redis that another process has started.
func shared(t *testing.T) *redisstore.Store {
	t.Helper()
	addr := os.Getenv(sharedEnv)
	if addr == "" {
		t.Skip("runs in the processes that another test starts")
	}
	s := open(t, rueidis.ClientOption{InitAddress: []string{addr}}, redisstore.WithTimeout(patient))
	ready(t, s)
	return s
}

func TestInAnotherProcess(t *testing.T) { //nolint:paralleltest // it is alone in its process
	s := shared(t)
	var admitted atomic.Int64
	together(125, func(int) {
		res, err := s.Take(t.Context(), core.Request{Key: user(1), Limits: core.Per(50, eon).Limits(), Cost: 1})
		if err != nil {
			t.Errorf("%v", err)
		} else if res.Allowed {
			admitted.Add(1)
		}
	})
	fmt.Printf("admitted %d\n", admitted.Load())
}

func TestProcessesShareTheLimit(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	var admitted atomic.Int64
	together(8, func(int) {
		out, err := another(t, "TestInAnotherProcess", sharedEnv+"="+server.Addr()).CombinedOutput()
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
		for line := range strings.Lines(string(out)) {
			var n int64
			if _, err := fmt.Sscanf(line, "admitted %d", &n); err == nil {
				admitted.Add(n)
			}
		}
	})
	require.EqualValues(t, 50, admitted.Load())
}

// aheadOf is a clock that is wrong by a constant.
type aheadOf time.Duration

func (c aheadOf) Now() time.Time { return time.Now().Add(time.Duration(c)) }

// TestByAnotherClock answers each line on its standard input with a decision.
func TestByAnotherClock(t *testing.T) { //nolint:paralleltest // it is alone in its process
	s := shared(t)
	ahead, err := time.ParseDuration(os.Getenv(aheadEnv))
	require.NoError(t, err)
	limiter, err := core.New(s, core.Plans{Tiers: map[string]core.Quota{"free": core.PerMinute(10)}}, core.WithClock(aheadOf(ahead)))
	require.NoError(t, err)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		d := limiter.Take(t.Context(), core.Identity{Key: "key_ana", Tier: "free"}, 1)
		fmt.Println("decided", d.Status(), d.Level.Remaining, d.Level.ResetAfter.Milliseconds())
	}
}

// decider is a process that decides when it is asked.
type decider struct {
	in  io.Writer
	out *bufio.Scanner
}

func startDecider(t *testing.T, server *redistest.Server, ahead time.Duration) *decider {
	t.Helper()
	cmd := another(t, "TestByAnotherClock", sharedEnv+"="+server.Addr(), aheadEnv+"="+ahead.String())
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close() // which ends it
		_ = cmd.Wait()
	})
	return &decider{in, bufio.NewScanner(out)}
}

func (d *decider) ask(t *testing.T) (status, remaining int, reset time.Duration) {
	t.Helper()
	_, err := fmt.Fprintln(d.in)
	require.NoError(t, err)
	for d.out.Scan() {
		var ms int
		if _, err := fmt.Sscanf(d.out.Text(), "decided %d %d %d", &status, &remaining, &ms); err == nil {
			return status, remaining, time.Duration(ms) * time.Millisecond
		}
	}
	t.Fatal("the process ended")
	return 0, 0, 0
}

// TestProcessesWithDifferentClocksShareTheLimit: 30 s apart, they admit what
// one would, and say the same of when it is over.
func TestProcessesWithDifferentClocksShareTheLimit(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	deciders := []*decider{startDecider(t, server, -15*time.Second), startDecider(t, server, 15*time.Second)}
	began := time.Now()
	admitted := 0
	for i := range 24 {
		status, _, reset := deciders[i%2].ask(t)
		span := time.Since(began)
		if status == 200 {
			admitted++
		}
		require.LessOrEqual(t, admitted, 10+int(span/(6*time.Second)))
		require.GreaterOrEqual(t, admitted, min(i+1, 10))
		full := time.Duration(admitted) * 6 * time.Second // when it would be, had no time gone by
		require.LessOrEqual(t, reset, full)
		require.GreaterOrEqual(t, reset, full-span-time.Second)
	}
}
