package storetest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// keys charges a different number of units under each of many keys that a
// store might take for one another. All parts of a Key count, and an ID may be
// anything.
func (o opener) keys(t *testing.T) {
	const capacity = 1000
	keys := awkwardKeys()
	require.Less(t, len(keys), capacity)
	for _, k := range sets(capacity) {
		t.Run(k.name, func(t *testing.T) {
			s := o.open(t)
			for i, key := range keys {
				res := s.charge(t, key, k.limits, i+1)
				if spent := capacity - (i + 1) - res.Levels[0].Remaining; spent != 0 || !res.Allowed {
					t.Fatalf("different keys are different buckets: %s was never used, yet %d units are spent%s", keyText(key), spent, sharedWith(keys[:i], spent))
				}
			}
			for i, key := range keys {
				if left := s.look(t, key, k.limits, 1).Levels[0].Remaining; left != capacity-(i+1) {
					t.Fatalf("different keys are different buckets: under %s %d units were spent, want %d left, got %d", keyText(key), i+1, capacity-(i+1), left)
				}
			}
		})
	}
}

// sharedWith names the key that spent units, if it was one of them alone.
func sharedWith(keys []core.Key, spent int) string {
	if spent < 1 || spent > len(keys) {
		return ""
	}
	return ", as many as under " + keyText(keys[spent-1])
}

// awkwardKeys are all different.
func awkwardKeys() []core.Key {
	keys := []core.Key{
		{},
		{Anonymous: true},
		{Scope: "x", Tier: "x", ID: "x"},
		// Joined without care, these are the same.
		{Tier: "a", ID: "b:c"},
		{Tier: "a:b", ID: "c"},
		{Scope: "a", Tier: "b", ID: "c"},
		{Scope: "a:b", ID: "c"},
		{Scope: "a", ID: "b:c"},
		{Scope: "a", Tier: "b:c"},
		{Tier: "1", ID: "1a"},
		{Tier: "11", ID: "a"},
		{Tier: "a,b", ID: "c"},
		{Tier: "a", ID: "b,c"},
		{Tier: "a/b", ID: "c"},
		{Tier: "a", ID: "b/c"},
		{Tier: "a|b", ID: "c"},
		{Tier: "a", ID: "b|c"},
		{Tier: "a", ID: "\x00b"},
		{Tier: "a", ID: "b\x00"},
		// An address is never a user.
		{Tier: "free", ID: "192.0.2.1"},
		{Tier: "free", ID: "192.0.2.1", Anonymous: true},
		{Scope: "free", ID: "192.0.2.1", Anonymous: true},
		{Tier: "free", ID: "anon:192.0.2.1"},
		{Tier: "free:anon", ID: "192.0.2.1"},
		{Scope: "free", Tier: "anon", ID: "192.0.2.1"},
		{Tier: "anon", ID: "192.0.2.1"},
		{Tier: "%61non", ID: "192.0.2.1"},
		{Tier: "free", ID: "true"},
		{Tier: "free", ID: "192.0.2.1true"},
	}
	// Names of tiers and scopes are text, an ID is anything.
	for _, s := range []string{
		"a", "A", "aa", "b", ":", "*", "a*", "?", "[a-z]", " ", "a ", " a", "{x}", "{}", "}", "{", "%", "%25", "%3A", "a%3Ab", "a b", "a%20b", "a+b",
		"é", "e\u0301", "\uFFFD", `\`, `\x00`, `"`, "'",
	} {
		keys = append(keys, core.Key{ID: s}, core.Key{Tier: s}, core.Key{Scope: s})
	}
	for _, s := range []string{
		"\x00", "a\x00", "\n", "a\n", "a\r\n", "\xff", "\xfe", "\xff\xfe", "\xc3", "\u200b", "a\u200b",
		"86f7e437faa5a7fce15d1ddcb9eaeaea377667b8", // SHA-1 of "a"
	} {
		keys = append(keys, core.Key{ID: s})
	}
	// Ids that are the same for long.
	for _, n := range []int{64, 255, 256, 257, 1024, 1 << 20} {
		x := strings.Repeat("x", n)
		keys = append(keys, core.Key{ID: x}, core.Key{ID: x[1:] + "y"}, core.Key{ID: "y" + x[1:]})
	}
	return keys
}
