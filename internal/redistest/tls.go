package redistest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	certificateFile = "server.crt"
	keyFile         = "server.key"
	authorityFile   = "ca.crt"
)

// identity is what a TLS server shows and what its clients trust, as PEM.
type identity struct{ certificate, key, authority []byte }

// theIdentity is one for all servers of the process, so that the nodes of a
// cluster trust each other. Nothing of it outlives the process.
var theIdentity = sync.OnceValues(newIdentity)

// TLS is what a client of this server needs, a new one for each call; nil when
// the server speaks plain text.
func (s *Server) TLS() *tls.Config {
	if !s.config.tls {
		return nil
	}
	id, err := theIdentity()
	if err != nil {
		return nil // The server has not started either.
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(id.authority)
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

func writeCertificates(dir string) error {
	id, err := theIdentity()
	if err != nil {
		return fmt.Errorf("redistest: certificates: %w", err)
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, certificateFile), id.certificate, 0o600),
		os.WriteFile(filepath.Join(dir, keyFile), id.key, 0o600),
		os.WriteFile(filepath.Join(dir, authorityFile), id.authority, 0o600),
	)
}

//nolint:wrapcheck // writeCertificates says what for.
func newIdentity() (*identity, error) {
	authority := certificate("redistest authority", 1)
	authority.IsCA, authority.BasicConstraintsValid, authority.KeyUsage = true, true, x509.KeyUsageCertSign
	server := certificate("redistest server", 2)
	server.KeyUsage = x509.KeyUsageDigitalSignature
	// A cluster's node is a client of the others.
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	server.DNSNames, server.IPAddresses = []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)}

	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	authorityDER, err := x509.CreateCertificate(rand.Reader, authority, authority, authorityKey.Public(), authorityKey)
	if err != nil {
		return nil, err
	}
	serverDER, err := x509.CreateCertificate(rand.Reader, server, authority, key.Public(), authorityKey)
	if err != nil {
		return nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return &identity{
		certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: serverDER}),
		key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
		authority:   pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authorityDER}),
	}, nil
}

func certificate(name string, serial int64) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour), // Clocks step back.
		NotAfter:     now.Add(24 * time.Hour),
	}
}
