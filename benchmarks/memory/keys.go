package memory

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// million is how many keys a large store holds, a fraction of it in a smoke run.
func million(quick bool) int {
	if quick {
		return 10_000
	}
	return 1_000_000
}

// inserted are n keys as they were when they were first seen.
func inserted(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("account-%07d", i)
	}
	return keys
}

// asked are copies of keys in random order. They lie in memory in the order in
// which they are asked for: the key of a request has just been read.
func asked(keys []string, seed uint64) []string {
	copies := make([]string, len(keys))
	for i, from := range rand.New(rand.NewPCG(seed, 1)).Perm(len(keys)) {
		copies[i] = strings.Clone(keys[from])
	}
	return copies
}
