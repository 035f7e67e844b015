package redistest

import (
	"os"
	"os/exec"
	"testing"
)

// program is the only one that is needed: a Sentinel is the same one by a flag.
const program = "redis-server"

// Need skips the test where redis-server is not on the PATH, and fails it
// instead when the environment says TIERLIMIT_REDIS=required, so that a build
// which means to test with Redis cannot pass without it. What starts servers
// calls it.
func Need(tb testing.TB) {
	tb.Helper()
	_, err := exec.LookPath(program)
	switch {
	case err == nil:
	case os.Getenv("TIERLIMIT_REDIS") == "required":
		tb.Fatalf("redistest: TIERLIMIT_REDIS=required, but %v", err)
	default:
		tb.Skipf("redistest: needs a Redis: %v (TIERLIMIT_REDIS=required makes this a failure)", err)
	}
}
