// Package benchmarks holds this library beside its rivals: on the same server,
// by turns, so that both meet the same noise. It is a module of its own, so that
// the rivals never enter a user's module graph.
//
//	go test -C benchmarks -bench . -benchtime 15x
//
// It reports medians: what a check costs the server by its own account, checks
// a second and allocations a check, of both, and the ratio of each pair of
// turns, ours to theirs.
package benchmarks
