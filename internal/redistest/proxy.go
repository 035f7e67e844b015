package redistest

import (
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy is a TCP proxy to one server that misbehaves on demand. What is asked
// of it holds for open connections too, and together: a delayed proxy may also
// drop replies. It is safe for concurrent use.
type Proxy struct {
	tb     testing.TB
	addr   string
	target string

	running sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener // nil while it refuses
	links    map[*link]struct{}
	accepted int
	delay    time.Duration
	drop     bool
	hole     bool
}

// NewProxy starts a proxy to the address target, where nothing needs to listen
// yet. A connection that cannot be handed on is reset. It ends with the test.
func NewProxy(tb testing.TB, target string) *Proxy {
	tb.Helper()
	p := &Proxy{tb: tb, addr: Reserve(tb), target: target, links: map[*link]struct{}{}}
	if err := p.listen(); err != nil {
		tb.Fatal("redistest: proxy:", err)
	}
	tb.Cleanup(func() {
		p.Refuse(true)
		p.Reset()
		p.running.Wait()
	})
	return p
}

// Addr is where it listens, host and port.
func (p *Proxy) Addr() string { return p.addr }

// Delay has each reply arrive d later than it would, also when replies follow
// closely; 0 ends that. Commands are not delayed.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// DropReplies hands commands on and swallows their replies. When it ends, the
// connections that lost one are reset: on them the next reply would be taken
// for the lost one.
func (p *Proxy) DropReplies(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop = on
	p.resetLossy(on)
}

// BlackHole takes connections and what they send, hands nothing on and answers
// nothing. When it ends, the connections that lost something are reset.
func (p *Proxy) BlackHole(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hole = on
	p.resetLossy(on)
}

// resetLossy is called with the lock held.
func (p *Proxy) resetLossy(stillLosing bool) {
	if stillLosing {
		return
	}
	for l := range p.links {
		if l.lossy {
			l.reset()
		}
	}
}

// Reset ends all open connections by RST: "connection reset by peer".
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.reset()
	}
}

// Refuse refuses new connections, as where nothing listens. Open ones go on.
func (p *Proxy) Refuse(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case on && p.listener != nil:
		_ = p.listener.Close() // It cannot fail in a way that matters.
		p.listener = nil
	case !on && p.listener == nil:
		if err := p.listen(); err != nil {
			p.tb.Error("redistest: proxy:", err)
		}
	}
}

// Heal ends all that was asked of the proxy.
func (p *Proxy) Heal() {
	p.Delay(0)
	p.DropReplies(false)
	p.BlackHole(false)
	p.Refuse(false)
}

// Accepted is how many connections were made in all, refused ones aside.
func (p *Proxy) Accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted
}

// Open is how many connections are open.
func (p *Proxy) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// listen is called with the lock held, or before anybody else knows the proxy.
func (p *Proxy) listen() error {
	l, err := listen(p.addr)
	if err != nil {
		return err
	}
	p.listener = l
	p.running.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return // It was closed, by Refuse.
			}
			p.open(l, client)
		}
	})
	return nil
}
