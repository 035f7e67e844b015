//go:build race

package denystore_test

// seeds are fewer than without the race detector, which has them take longer.
const seeds = 1
