package redistest

import (
	"context"
	"net"
	"sync"
	"time"
)

// link is a connection through a proxy.
type link struct {
	proxy  *Proxy
	client net.Conn
	ended  context.Context //nolint:containedctx // Is the link's life, and ends the dial to the server too.
	end    context.CancelFunc

	// lossy says that bytes were lost, so that what follows makes no sense. The
	// proxy's lock guards it.
	lossy bool
}

// reply is a piece of what the server said and when it may arrive.
type reply struct {
	bytes []byte
	due   time.Time
}

// open takes a connection that came by a listener.
func (p *Proxy) open(l net.Listener, client net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := &link{proxy: p, client: client, lossy: p.hole}
	k.ended, k.end = context.WithCancel(context.Background())
	if p.listener != l {
		k.reset() // It came just before the listener was closed.
		return
	}
	p.accepted++
	p.links[k] = struct{}{}
	p.running.Go(func() {
		k.run()
		k.end()
		_ = client.Close() // A reset one is closed already.
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.links, k)
	})
}

// reset ends the link by RST.
func (k *link) reset() {
	if tcp, ok := k.client.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // It may be closed already.
	}
	_ = k.client.Close() // As above.
	k.end()
}

func (k *link) run() {
	if k.hasLost() { // It came into a black hole: nobody is told of it.
		k.carryCommands(nil)
		return
	}
	var d net.Dialer
	server, err := d.DialContext(k.ended, "tcp", k.proxy.target)
	if err != nil {
		k.reset()
		return
	}
	defer context.AfterFunc(k.ended, func() { _ = server.Close() })() // Ends the reading of replies.
	defer func() { _ = server.Close() }()                             // The AfterFunc may not have run.

	replies := make(chan reply, 1024)
	var both sync.WaitGroup
	both.Go(func() {
		defer close(replies)
		k.readReplies(server, replies)
	})
	both.Go(func() {
		k.writeReplies(replies)
		_ = k.client.Close() // The server has ended the connection, and all that it said is there.
	})
	k.carryCommands(server)
	k.end()
	both.Wait()
}

func (k *link) hasLost() bool {
	k.proxy.mu.Lock()
	defer k.proxy.mu.Unlock()
	return k.lossy
}

// loses says whether bytes are lost now, and remembers that they were.
func (k *link) loses(isReply bool) bool {
	k.proxy.mu.Lock()
	defer k.proxy.mu.Unlock()
	lost := k.proxy.hole || isReply && k.proxy.drop
	k.lossy = k.lossy || lost
	return lost
}

// carryCommands hands on what the client sends, until it ends; to nobody when
// server is nil.
func (k *link) carryCommands(server net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := k.client.Read(buf)
		if n > 0 && server != nil && !k.loses(false) {
			if _, err := server.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (k *link) readReplies(server net.Conn, replies chan<- reply) {
	for {
		buf := make([]byte, 64<<10)
		n, err := server.Read(buf)
		k.proxy.mu.Lock()
		delay := k.proxy.delay
		k.proxy.mu.Unlock()
		select {
		case replies <- reply{buf[:n], time.Now().Add(delay)}:
		case <-k.ended.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

func (k *link) writeReplies(replies <-chan reply) {
	for r := range replies {
		if wait := time.Until(r.due); wait > 0 {
			select {
			case <-time.After(wait):
			case <-k.ended.Done():
				return
			}
		}
		if k.loses(true) {
			continue
		}
		if _, err := k.client.Write(r.bytes); err != nil {
			return
		}
	}
}
