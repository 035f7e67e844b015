//go:build !race

package denystore_test

// seeds is how many random schedules are tried of each kind.
const seeds = 4
