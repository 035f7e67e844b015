//go:build !race

package echolimit_test

const raceDetector = false
