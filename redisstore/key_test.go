package redisstore

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

func TestPlainKeyIsTheOneOfTheField(t *testing.T) {
	t.Parallel()
	m := newKeyMaker("trt:", nil)
	for _, c := range []struct {
		name string
		key  core.Key
		want string
	}{
		{"golden", core.Key{Tier: "free", ID: "key_ana"}, "trt:free:33d2315cbeb866b8b237240a98d605f2e6e41b8a"},
		{"another tier", core.Key{Tier: "pro", ID: "user-1"}, "trt:pro:9dfffe450852c20c8876f6e5a37da6e469bf2c9c"},
		{"anonymous", core.Key{Tier: "free", ID: "key_ana", Anonymous: true}, "trt:free:anon:33d2315cbeb866b8b237240a98d605f2e6e41b8a"},
		{"scope", core.Key{Scope: "login", Tier: "free", ID: "key_ana"}, "trt:login:free:33d2315cbeb866b8b237240a98d605f2e6e41b8a"},
		{"a tier named as the mark", core.Key{Tier: "anon", ID: "key_ana"}, "trt:%61non:33d2315cbeb866b8b237240a98d605f2e6e41b8a"},
		{
			"bytes that break keys",
			core.Key{Scope: "a:b", Tier: "{x} %é\n", ID: "key_ana"},
			"trt:a%3Ab:%7Bx%7D%20%25%C3%A9%0A:33d2315cbeb866b8b237240a98d605f2e6e41b8a",
		},
		{"no id", core.Key{Tier: "free"}, "trt:free:da39a3ee5e6b4b0d3255bfef95601890afd80709"},
	} {
		require.Equal(t, c.want, m.plain(&c.key), c.name)
	}
}

func TestSetKeyNamesItsWindowsAndSharesASlot(t *testing.T) {
	t.Parallel()
	m := newKeyMaker("trt:", nil)
	limits := core.PerDay(50_000).And(core.PerSecond(20)).Limits()
	set := newSet(limits)
	require.Equal(t, "gcra1s+gcra24h", set.name)
	require.Equal(t, []int{1, 0}, set.order)
	main := m.set(&core.Key{Tier: "pro", ID: "key_ana"}, set.name)
	require.Equal(t, "trt:{pro:33d2315cbeb866b8b237240a98d605f2e6e41b8a}:gcra1s+gcra24h", main)

	logs := newSet(core.PerMinute(5).Using(core.SlidingLog).
		And(core.Per(7, 90*time.Second).Using(core.FixedWindow)).
		And(core.Per(3, 250*time.Microsecond).Using(core.SlidingLog)).Limits())
	require.Equal(t, "fixed90s+sliding250us+sliding1m", logs.name)
	keys := logs.keys(main)
	require.Equal(t, []string{main, main + ":1", main + ":2"}, keys)
	for _, k := range keys {
		require.Equal(t, slot(main), slot(k))
	}
	require.Equal(t, []string{main}, newSet(core.PerMinute(5).Using(core.SlidingLog).Limits()).keys(main), "a lone log has the main key")
}

// The vectors of RFC 2202, section 3.
func TestSecretKeysAreHMACSHA1(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		secret []byte
		id     string
		want   string
	}{
		{repeat(0x0b, 20), "Hi There", "b617318655057264e28bc0b6fb378c8ef146be00"},
		{[]byte("Jefe"), "what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"},
		{repeat(0xaa, 20), string(repeat(0xdd, 50)), "125d7342b9ac11cd91a39af48aa17b4f63f175d3"},
		{repeat(0x0c, 20), "Test With Truncation", "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04"},
		{repeat(0xaa, 80), "Test Using Larger Than Block-Size Key - Hash Key First", "aa4ae5e15272d00e95705637ce8a3b55ed402112"},
		{repeat(0xaa, 80), "Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data", "e8e99d0f45237d786d6bbaa7965c7808bbff1a91"},
	} {
		m := newKeyMaker("", c.secret)
		for range 2 { // the second from the pool
			require.Equal(t, "t:"+c.want, m.plain(&core.Key{Tier: "t", ID: c.id}))
		}
	}
}

func TestAHugeIDIsHashedWholeAndBounded(t *testing.T) {
	t.Parallel()
	m := newKeyMaker("trt:", nil)
	long := strings.Repeat("x", 1<<20)
	sum := sha1.Sum([]byte(long))
	require.Equal(t, "trt:t:"+hex.EncodeToString(sum[:]), m.plain(&core.Key{Tier: "t", ID: long}))

	secret := newKeyMaker("", []byte("s"))
	mac := hmac.New(sha1.New, []byte("s"))
	mac.Write([]byte(long))
	require.Equal(t, "t:"+hex.EncodeToString(mac.Sum(nil)), secret.plain(&core.Key{Tier: "t", ID: long}))
	require.LessOrEqual(t, len(m.plain(&core.Key{Scope: strings.Repeat("é", 32), Tier: strings.Repeat(" ", 64), ID: long})), 512)
}

func TestSlotIsThatOfTheClusterSpecification(t *testing.T) {
	t.Parallel()
	require.EqualValues(t, 12739, slot("123456789"))
	require.Equal(t, slot("user1000"), slot("{user1000}.following"))
	require.NotEqual(t, slot("x"), slot("{}x"), "an empty tag is none")
}

func repeat(b byte, n int) []byte {
	return []byte(strings.Repeat(string([]byte{b}), n))
}
