package redisstore

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the key format of the field; the ids are not secrets to forge
	"encoding/hex"
	"hash"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tierlimit/tierlimit/core"
)

// keyMaker names buckets in Redis.
//
//	<prefix>[<scope>:]<tier>[:anon]:<hex of SHA-1 or HMAC-SHA1 of the id>
//
// is the plain key of a lone GCRA window. Any other set of windows has its name
// behind it, and the rest in braces, so that all keys of the set share a slot.
type keyMaker struct {
	prefix string
	secret bool
	hashes sync.Pool // of *hasher
}

// hasher hashes a long id, or with a secret; it is kept for the next.
type hasher struct {
	hash hash.Hash
	sum  [sha1.Size]byte
	buf  [256]byte
}

// usual is how long a key mostly is at most, short how long an id is: both then
// need no memory of their own.
const usual, short = 160, 64

func newKeyMaker(prefix string, secret []byte) *keyMaker {
	secret = slices.Clone(secret)
	return &keyMaker{prefix: prefix, secret: len(secret) > 0, hashes: sync.Pool{New: func() any {
		h := &hasher{}
		if len(secret) > 0 {
			h.hash = hmac.New(sha1.New, secret)
		} else {
			h.hash = sha1.New() //nolint:gosec // as above
		}
		return h
	}}}
}

// plain is the key of a lone GCRA window.
func (m *keyMaker) plain(k *core.Key) string {
	var buf [usual]byte
	return string(m.appendRest(append(buf[:0], m.prefix...), k))
}

// set is the key of any other set of windows.
func (m *keyMaker) set(k *core.Key, name string) string {
	var buf [usual]byte
	key := append(append(buf[:0], m.prefix...), '{')
	key = append(m.appendRest(key, k), "}:"...)
	return string(append(key, name...))
}

// appendRest appends the plain key without its prefix.
func (m *keyMaker) appendRest(b []byte, k *core.Key) []byte {
	if k.Scope != "" {
		b = append(appendName(b, k.Scope), ':')
	}
	if k.Tier == "anon" {
		b = append(b, "%61non"...) // or it would read as the mark below
	} else {
		b = appendName(b, k.Tier)
	}
	if k.Anonymous {
		b = append(b, ":anon"...)
	}
	return m.appendHash(append(b, ':'), k.ID)
}

// appendHash appends the hex of the hash of id.
func (m *keyMaker) appendHash(b []byte, id string) []byte {
	if len(id) <= short && !m.secret {
		var buf [short]byte
		sum := sha1.Sum(buf[:copy(buf[:], id)]) //nolint:gosec // as above
		return hex.AppendEncode(b, sum[:])
	}
	h, _ := m.hashes.Get().(*hasher)
	h.hash.Reset()
	for id != "" {
		n := copy(h.buf[:], id)
		h.hash.Write(h.buf[:n])
		id = id[n:]
	}
	b = hex.AppendEncode(b, h.hash.Sum(h.sum[:0]))
	m.hashes.Put(h)
	return b
}

// appendName appends the name of a tier or scope; bytes that could break the
// key apart are percent-encoded.
func appendName(b []byte, name string) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(name) {
		switch c := name[i]; {
		case c <= ' ' || c >= 0x7f || c == ':' || c == '{' || c == '}' || c == '%':
			b = append(b, '%', digits[c>>4], digits[c&15])
		default:
			b = append(b, c)
		}
	}
	return b
}

// setName is a short readable name of the windows, which are in order:
// gcra1s+gcra24h.
func setName(limits []core.Limit) string {
	var b strings.Builder
	for i, l := range limits {
		if i > 0 {
			b.WriteByte('+')
		}
		switch l.Algorithm {
		case core.FixedWindow:
			b.WriteString("fixed")
		case core.SlidingLog:
			b.WriteString("sliding")
		case core.GCRA:
			b.WriteString("gcra")
		default:
			b.WriteString("unknown")
		}
		b.WriteString(windowName(l.Window))
	}
	return b.String()
}

// windowName is the shortest text of d that no other window has.
func windowName(d time.Duration) string {
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}} {
		if d >= unit.size && d%unit.size == 0 {
			return strconv.FormatInt(int64(d/unit.size), 10) + unit.name
		}
	}
	return strconv.FormatInt(int64((max(d, 1)-1)/time.Microsecond+1), 10) + "us"
}
