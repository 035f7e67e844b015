//go:build race

package httplimit_test

const raceDetector = true
