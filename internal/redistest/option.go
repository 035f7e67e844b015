package redistest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// Option is something that a server shall have.
type Option func(*config)

type config struct {
	password string
	tls      bool
	sentinel bool
	lines    []string
}

// WithPassword asks the default user for a password. Without it there is none.
// The package's own connections and clients give it.
func WithPassword(password string) Option {
	return func(c *config) {
		c.password = password
		// Replicas give it to their master.
		c.lines = append(c.lines, "requirepass "+password, "masterauth "+password)
	}
}

// WithUser adds a user, by the rules of ACL SETUSER: WithUser("limiter", "on",
// ">secret", "~trt:*", "+eval", "+evalsha"). The default user stays as it is,
// and [As] makes a client of this one.
func WithUser(name string, rules ...string) Option {
	return WithConfig("user " + name + " " + strings.Join(rules, " "))
}

// WithTLS serves TLS and nothing else, by a certificate for 127.0.0.1 and
// localhost. Clients need [Server.TLS]; no certificate is asked of them.
func WithTLS() Option { return func(c *config) { c.tls = true } }

// WithMaxMemory bounds the memory, "2mb", and says by which policy keys are
// evicted then, "noeviction" or "allkeys-lru".
func WithMaxMemory(size, policy string) Option {
	return WithConfig("maxmemory "+size, "maxmemory-policy "+policy)
}

// WithConfig adds lines of redis.conf as they are.
func WithConfig(lines ...string) Option {
	return func(c *config) { c.lines = append(c.lines, lines...) }
}

// write writes what a server on addr reads at its start.
func (c *config) write(dir, addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("redistest: %w", err)
	}
	lines := []string{"bind 127.0.0.1", "protected-mode no", "dir " + dir}
	switch {
	case c.tls:
		if err := writeCertificates(dir); err != nil {
			return err
		}
		lines = append(lines, "port 0", "tls-port "+port, "tls-auth-clients no", "tls-replication yes", "tls-cluster yes",
			"tls-cert-file "+certificateFile, "tls-key-file "+keyFile, "tls-ca-cert-file "+authorityFile)
	default:
		lines = append(lines, "port "+port)
	}
	if !c.sentinel {
		// By default a replica's first copy waits 5 s for others to join in.
		lines = append(lines, `save ""`, "appendonly no", "repl-diskless-sync yes", "repl-diskless-sync-delay 0")
	}
	text := strings.Join(append(lines, c.lines...), "\n") + "\n"
	if err := os.WriteFile(filepath.Join(dir, configName), []byte(text), 0o600); err != nil {
		return fmt.Errorf("redistest: %w", err)
	}
	return nil
}
