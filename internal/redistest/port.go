package redistest

import (
	"context"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// Ports are drawn below the range that systems give to outgoing connections and
// to listeners on port 0 (32768 and up on Linux). One from that range could be
// taken by anybody while its server is down for a restart.
const (
	firstPort = 10_000
	ports     = 10_000
	// A cluster node talks to the others on a second port, this much higher.
	busOffset = 10_000
)

// reserved are the ports of this process. Other processes draw from the same
// range at random and see that a port is listened on.
var reserved = struct {
	sync.Mutex

	ports map[int]bool
}{ports: map[int]bool{}}

// Reserve gives an address, 127.0.0.1 and a port, on which nothing listens and
// which nobody else gets until the test ends. A server or a proxy can be
// started on it later, see [StartAt].
func Reserve(tb testing.TB) string {
	tb.Helper()
	reserved.Lock()
	defer reserved.Unlock()
	for range 1000 {
		port := firstPort + rand.IntN(ports) //nolint:gosec // Spreads processes, guards nothing.
		if reserved.ports[port] || !free(port) || !free(port+busOffset) {
			continue
		}
		reserved.ports[port] = true
		tb.Cleanup(func() {
			reserved.Lock()
			defer reserved.Unlock()
			delete(reserved.ports, port)
		})
		return address(port)
	}
	tb.Fatal("redistest: no free port")
	return ""
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func free(port int) bool {
	l, err := listen(address(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func listen(addr string) (net.Listener, error) {
	var c net.ListenConfig
	return c.Listen(context.Background(), "tcp4", addr) //nolint:wrapcheck // The caller says what for.
}
