//go:build !race

package ginlimit_test

const raceDetector = false
