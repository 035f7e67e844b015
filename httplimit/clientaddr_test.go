package httplimit_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
)

// from is a request of peer with lines of X-Forwarded-For.
func from(peer string, lines ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = peer
	if lines != nil {
		r.Header["X-Forwarded-For"] = lines
	}
	return r
}

func prefixes(list ...string) []netip.Prefix {
	p := make([]netip.Prefix, 0, len(list))
	for _, s := range list {
		p = append(p, netip.MustParsePrefix(s))
	}
	return p
}

func TestClientAddrOfAPeer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		peer string
		bits int
		addr string
	}{
		{"203.0.113.9:4711", 64, "203.0.113.9"},
		{"203.0.113.9", 64, "203.0.113.9"},
		{"203.0.113.9:0", 1, "203.0.113.9"},
		{"[::ffff:203.0.113.9]:80", 64, "203.0.113.9"},
		{"::ffff:203.0.113.9", 1, "203.0.113.9"},
		{"[::ffff:cb00:7109]:80", 128, "203.0.113.9"},
		{"[2001:db8:1:2:3:4:5:6]:80", 64, "2001:db8:1:2::"},
		{"2001:db8:1:2:3:4:5:6", 64, "2001:db8:1:2::"},
		{"[2001:db8:1:2:3:4:5:6]", 64, "2001:db8:1:2::"},
		{"2001:DB8:1:2::1", 64, "2001:db8:1:2::"},
		{"2001:0db8:0001:0002:0000:0000:0000:0001", 64, "2001:db8:1:2::"},
		{"[2001:db8:1:2ff:3:4:5:6]:80", 56, "2001:db8:1:200::"},
		{"[2001:db8:1:2ff:3:4:5:6]:80", 48, "2001:db8:1::"},
		{"[2001:db8:1:2:3:4:5:6]:80", 128, "2001:db8:1:2:3:4:5:6"},
		{"[2001:db8:1:2:3:4:5:6]:80", 1, "::"},
		{"[2001:db8:1:2:3:4:5:6]:80", 0, "2001:db8:1:2::"},
		{"[2001:db8:1:2:3:4:5:6]:80", 129, "2001:db8:1:2::"},
		{"[2001:db8:1:2:3:4:5:6]:80", -1, "2001:db8:1:2::"},
		{"[fe80::1%eth0]:80", 64, "fe80::"},
		{"[fe80::1%eth0]:80", 128, "fe80::1"},
		{"fe80::1%eth0", 128, "fe80::1"},
		{"[fe80::1%eth0]", 128, "fe80::1"},
		{"[::1]:80", 128, "::1"},
	} {
		addr, err := httplimit.ClientAddr(from(c.peer, "198.51.100.7"), nil, c.bits)
		require.NoError(t, err, c.peer)
		require.Equal(t, c.addr, addr, "%s at %d", c.peer, c.bits)
	}
}

func TestClientAddrOfAPeerThatIsNone(t *testing.T) {
	t.Parallel()
	for _, peer := range []string{
		"", "@", "/run/api.sock", "localhost:80", "203.0.113.9:port", "203.0.113.9:", "203.0.113.9:70000", "256.1.1.1:80", "01.2.3.4",
		"[2001:db8::1", "2001:db8::1]", "[[::1]]", "[]", "[]:80", ":80", "203.0.113.9 ", " 203.0.113.9", "203.0.113.9/32",
	} {
		addr, err := httplimit.ClientAddr(from(peer, "198.51.100.7"), prefixes("0.0.0.0/0", "::/0"), 64)
		require.Error(t, err, peer)
		require.Empty(t, addr, peer)
	}
}

func TestClientAddrBehindTrustedProxies(t *testing.T) {
	t.Parallel()
	trusted := prefixes("10.0.0.0/8", "2001:db8:ffff::/48")
	const proxy = "10.0.0.1:4711"
	for _, c := range []struct {
		name  string
		peer  string
		lines []string
		addr  string
	}{
		{"a stranger's word does not count", "198.51.100.7:1", []string{"203.0.113.9"}, "198.51.100.7"},
		{"no header", proxy, nil, "10.0.0.1"},
		{"an empty header", proxy, []string{""}, "10.0.0.1"},
		{"one entry", proxy, []string{"203.0.113.9"}, "203.0.113.9"},
		{"from the right", proxy, []string{"6.6.6.6, 203.0.113.9"}, "203.0.113.9"},
		{"past trusted ones", proxy, []string{"6.6.6.6, 203.0.113.9, 10.0.0.3, 10.0.0.2"}, "203.0.113.9"},
		{"several lines are one list", proxy, []string{"6.6.6.6", "203.0.113.9", "10.0.0.2"}, "203.0.113.9"},
		{"the last line first", proxy, []string{"203.0.113.9", "6.6.6.6, 198.51.100.7"}, "198.51.100.7"},
		{"an empty line between", proxy, []string{"203.0.113.9", "", "10.0.0.2"}, "203.0.113.9"},
		{"all trusted: the farthest", proxy, []string{"10.0.0.4, 10.0.0.3", "10.0.0.2"}, "10.0.0.4"},
		{"spaces", proxy, []string{" 6.6.6.6 ,\t203.0.113.9\t, 10.0.0.2 "}, "203.0.113.9"},
		{"no spaces", proxy, []string{"6.6.6.6,203.0.113.9,10.0.0.2"}, "203.0.113.9"},
		{"ports", proxy, []string{"203.0.113.9:4711, 10.0.0.2:80"}, "203.0.113.9"},
		{"IPv6 with a port", proxy, []string{"[2001:db8:1:2:3::4]:4711"}, "2001:db8:1:2::"},
		{"IPv6 in brackets", proxy, []string{"[2001:db8:1:2:3::4]"}, "2001:db8:1:2::"},
		{"IPv6", proxy, []string{"2001:db8:1:2:3::4"}, "2001:db8:1:2::"},
		{"an IPv6 proxy", "[2001:db8:ffff::1]:80", []string{"203.0.113.9, 2001:db8:ffff::2"}, "203.0.113.9"},
		{"mapped client", proxy, []string{"::ffff:203.0.113.9"}, "203.0.113.9"},
		{"mapped proxies", "[::ffff:10.0.0.1]:80", []string{"203.0.113.9, ::ffff:10.0.0.2"}, "203.0.113.9"},
		{"zoned proxy in the list", proxy, []string{"203.0.113.9, 2001:db8:ffff::2%eth0"}, "203.0.113.9"},
		{"a bad entry: the peer, never further left", proxy, []string{"203.0.113.9, unknown"}, "10.0.0.1"},
		{"a bad entry behind trusted ones", proxy, []string{"203.0.113.9, _hidden, 10.0.0.3"}, "10.0.0.1"},
		{"a bad entry left of the client", proxy, []string{"unknown, 203.0.113.9"}, "203.0.113.9"},
		{"an empty entry", proxy, []string{"203.0.113.9, , 10.0.0.2"}, "10.0.0.1"},
		{"a comma alone", proxy, []string{","}, "10.0.0.1"},
		{"a comma at the end", proxy, []string{"203.0.113.9,"}, "10.0.0.1"},
		{"a prefix is no address", proxy, []string{"203.0.113.0/24"}, "10.0.0.1"},
		{"an odd number", proxy, []string{"203.0.113.09"}, "10.0.0.1"},
		{"quotes", proxy, []string{`"203.0.113.9"`}, "10.0.0.1"},
	} {
		addr, err := httplimit.ClientAddr(from(c.peer, c.lines...), trusted, 64)
		require.NoError(t, err, c.name)
		require.Equal(t, c.addr, addr, c.name)
	}
}

func TestClientAddrTrustsMappedPrefixes(t *testing.T) {
	t.Parallel()
	for _, trusted := range [][]netip.Prefix{
		prefixes("::ffff:10.0.0.0/104"),
		prefixes("::ffff:10.0.0.1/128"),
		prefixes("::ffff:0.0.0.0/96"),
		prefixes("10.9.9.9/8"), // host bits do not matter
	} {
		for _, peer := range []string{"10.0.0.1:80", "[::ffff:10.0.0.1]:80"} {
			addr, err := httplimit.ClientAddr(from(peer, "203.0.113.9"), trusted, 64)
			require.NoError(t, err)
			if trusted[0].Bits() == 96 {
				require.Equal(t, "203.0.113.9", addr, "everybody is trusted, so the farthest")
				continue
			}
			require.Equal(t, "203.0.113.9", addr, "%v %s", trusted, peer)
		}
	}
	addr, err := httplimit.ClientAddr(from("10.0.0.1:80", "203.0.113.9"), []netip.Prefix{{}}, 64)
	require.NoError(t, err)
	require.Equal(t, "10.0.0.1", addr, "the zero prefix trusts nobody")
}

func TestClientAddrOfAHugeHeader(t *testing.T) {
	t.Parallel()
	trusted := prefixes("10.0.0.0/8")
	for header, want := range map[string]string{
		strings.Repeat("10.0.0.2, ", 1<<20/10) + "10.0.0.2":                     "10.0.0.2",
		"203.0.113.9, " + strings.Repeat("10.0.0.2, ", 1<<20/10) + "10.0.0.2":   "203.0.113.9",
		strings.Repeat("x", 1<<20):                                              "10.0.0.1",
		strings.Repeat(",", 1<<20):                                              "10.0.0.1",
		strings.Repeat(" ", 1<<20) + "203.0.113.9" + strings.Repeat(" ", 1<<20): "203.0.113.9",
		strings.Repeat("6.6.6.6,", 1<<17) + "203.0.113.9":                       "203.0.113.9",
	} {
		addr, err := httplimit.ClientAddr(from("10.0.0.1:80", header), trusted, 64)
		require.NoError(t, err)
		require.Equal(t, want, addr)
	}
}

func TestForgedHeadersDoNotOpenBuckets(t *testing.T) {
	t.Parallel()
	limited := httplimit.New(newLimiter(t, core.PerMinute(10)), httplimit.ByClientIP("free"))(http.NotFoundHandler())
	served := 0
	for i := range 20 {
		rec := httptest.NewRecorder()
		r := from("198.51.100.7:"+strconv.Itoa(4000+i), "203.0.113."+strconv.Itoa(i))
		r.Header.Set("X-Real-Ip", "203.0.113."+strconv.Itoa(i))
		r.Header.Set("Forwarded", "for=203.0.113."+strconv.Itoa(i))
		limited.ServeHTTP(rec, r)
		if rec.Code != http.StatusTooManyRequests {
			served++
		}
	}
	require.Equal(t, 10, served)
}

func TestByClientIP(t *testing.T) {
	t.Parallel()
	trusted := prefixes("10.0.0.0/8")
	identify := httplimit.ByClientIP("address", trusted...)
	trusted[0] = netip.MustParsePrefix("198.51.100.0/24") // it was copied
	for _, c := range []struct{ peer, forwarded, key string }{
		{"198.51.100.7:1", "203.0.113.9", "198.51.100.7"},
		{"10.0.0.1:1", "203.0.113.9", "203.0.113.9"},
		{"[2001:db8:1:2::1]:1", "203.0.113.9", "2001:db8:1:2::"},
		{"[2001:db8:1:2:ffff::9]:1", "203.0.113.9", "2001:db8:1:2::"},
		{"[2001:db8:1:3::1]:1", "203.0.113.9", "2001:db8:1:3::"},
	} {
		id, err := identify(from(c.peer, c.forwarded))
		require.NoError(t, err)
		require.Equal(t, core.Identity{Key: c.key, Tier: "address"}, id)
	}
	_, err := identify(from("@"))
	require.Error(t, err)
}

func TestAddressesOfOnePrefixShareABucket(t *testing.T) {
	t.Parallel()
	nobody := func(*http.Request) (core.Identity, error) { return core.Identity{}, nil }
	for _, c := range []struct {
		opts   []httplimit.Option
		peers  []string
		shared bool
	}{
		{nil, []string{"[2001:db8:1:2::1]:1", "[2001:db8:1:2:ffff::9]:1"}, true},
		{nil, []string{"[2001:db8:1:2::1]:1", "[2001:db8:1:3::1]:1"}, false},
		{[]httplimit.Option{httplimit.WithIPv6Prefix(56)}, []string{"[2001:db8:1:2::1]:1", "[2001:db8:1:3::1]:1"}, true},
		{[]httplimit.Option{httplimit.WithIPv6Prefix(128)}, []string{"[2001:db8:1:2::1]:1", "[2001:db8:1:2::2]:1"}, false},
		{nil, []string{"198.51.100.7:1", "[::ffff:198.51.100.7]:2"}, true},
		{nil, []string{"198.51.100.7:1", "198.51.100.8:1"}, false},
		{nil, []string{"@", "@"}, true}, // a Unix socket is one caller
	} {
		limited := httplimit.New(newLimiter(t, core.PerMinute(1)), nobody, c.opts...)(http.NotFoundHandler())
		codes := make([]int, 0, 2)
		for _, peer := range c.peers {
			rec := httptest.NewRecorder()
			limited.ServeHTTP(rec, from(peer))
			codes = append(codes, rec.Code)
		}
		second := http.StatusNotFound
		if c.shared {
			second = http.StatusTooManyRequests
		}
		require.Equal(t, []int{http.StatusNotFound, second}, codes, c.peers)
	}
}

func FuzzClientAddr(f *testing.F) {
	for _, peer := range []string{"203.0.113.9:80", "10.0.0.1", "[fe80::1%eth0]:80", "::ffff:10.0.0.1", "@", ""} {
		for _, header := range []string{"", "6.6.6.6, 203.0.113.9", "[2001:db8::1]:80,10.0.0.2", ",,", "unknown", "::ffff:1.2.3.4%x"} {
			f.Add(peer, header, header, 64)
		}
	}
	trusted := prefixes("10.0.0.0/8", "::ffff:192.168.0.0/112", "fe80::/10")
	f.Fuzz(func(t *testing.T, peer, first, second string, bits int) {
		r := from(peer, first, second)
		direct, err := httplimit.ClientAddr(r, nil, bits)
		bare, bareErr := httplimit.ClientAddr(from(peer), nil, bits)
		require.Equal(t, bareErr == nil, err == nil)
		require.Equal(t, bare, direct, "the header matters with nobody trusted")

		forwarded, err := httplimit.ClientAddr(r, trusted, bits)
		require.Equal(t, bareErr == nil, err == nil)
		if err != nil {
			require.Empty(t, forwarded)
			return
		}
		for _, s := range []string{direct, forwarded} {
			addr, err := netip.ParseAddr(s)
			require.NoError(t, err)
			require.Equal(t, addr.String(), s)
			require.False(t, addr.Is4In6(), s)
			require.Empty(t, addr.Zone())
			again, err := httplimit.ClientAddr(from(s), nil, bits)
			require.NoError(t, err)
			require.Equal(t, s, again, "not canonical")
		}
	})
}
