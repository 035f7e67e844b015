//go:build race

package chaostest_test

const raceDetector = true
