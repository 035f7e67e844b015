// Package redistest runs real Redis servers for tests: one server, a Cluster of
// three masters and three replicas, or a master under three Sentinels, and a
// TCP proxy that delays, loses and cuts what passes.
//
//	s := redistest.Start(t, redistest.WithPassword("secret"))
//	store := redisstore.New(s.Client(t))
//	s.Freeze(t) // accepts and never answers, as a hung machine does
//	s.Thaw(t)
//	s.Restart(t) // same address, empty memory
//
//	p := redistest.NewProxy(t, s.Addr())
//	client := s.Client(t, redistest.Through(p))
//	p.DropReplies(true) // commands are executed, and nobody learns of it
//
// Every server is a child of the test, in a directory of its own, on free ports
// of 127.0.0.1, without persistence. It is killed by tb.Cleanup, and on Linux
// also when the test's process is killed. Tests that start servers may be
// parallel. Where no redis-server is on the PATH they are skipped, see [Need].
//
// What takes a tb ends the test when it fails, so it is for the test's own
// goroutine. [Server.Try] and the clients are for others too.
//
// It is not a fake: time is the machine's, and whoever waits really waits, by
// [Wait].
package redistest
