package redistest_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/redistest"
)

// childEnv tells TestInChild how to end.
const childEnv = "REDISTEST_CHILD"

// TestInChild is a test of another process: it fails, or waits to be killed.
func TestInChild(t *testing.T) {
	how := os.Getenv(childEnv)
	if how == "" {
		t.Skip("runs in a process that the other tests start")
	}
	frozen, running := redistest.Start(t), redistest.Start(t)
	frozen.Freeze(t)
	_, err := os.Stdout.WriteString("addr " + frozen.Addr() + "\naddr " + running.Addr() + "\n")
	require.NoError(t, err)
	if how == "wait" {
		<-time.After(time.Minute)
	}
	t.Fatal("as it should")
}

// child starts TestInChild and gives the addresses of its servers.
func child(t *testing.T, how string) (*exec.Cmd, []string) {
	t.Helper()
	redistest.Need(t)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], "-test.run=^TestInChild$")
	cmd.Env = append(os.Environ(), childEnv+"="+how)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	var addrs []string
	for lines := bufio.NewScanner(out); len(addrs) < 2 && lines.Scan(); {
		if addr, ok := strings.CutPrefix(lines.Text(), "addr "); ok {
			addrs = append(addrs, addr)
		}
	}
	require.Len(t, addrs, 2)
	return cmd, addrs
}

func requireGone(t *testing.T, addrs []string) {
	t.Helper()
	redistest.Wait(t, 5*time.Second, "servers to be gone", func() error {
		for _, addr := range addrs {
			if !refused(addr) {
				return errors.New(addr + " is there")
			}
		}
		return nil
	})
}

func TestFailedTestLeavesNoServer(t *testing.T) {
	t.Parallel()
	cmd, addrs := child(t, "fail")
	require.Error(t, cmd.Wait(), "the test in it fails")
	requireGone(t, addrs)
}

func TestKilledTestLeavesNoServer(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ties a child to its parent")
	}
	cmd, addrs := child(t, "wait")
	assert.False(t, refused(addrs[1]))
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	requireGone(t, addrs)
}
