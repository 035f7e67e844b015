// Package chaostest holds the tests of the whole under real faults: two
// instances as in examples/production, each with a client, a cache of refusals
// and a local store of its own, under an open loop of 2,000 requests a second,
// while the Redis that they share is killed, frozen, cut off, slowed down,
// filled, made a replica or failed over.
//
//	go test -race -v ./internal/chaostest
//
// What is asserted is what a service would notice: how long a request waited
// inside the store, what was admitted under each plan beside the arithmetic of
// package fallbackstore, which decisions were Degraded, how soon limits are
// shared again, and that goroutines stay few. The figures are logged, beside
// how late the machine itself wakes a sleeper. Where it stood still for long, a
// scenario is played again, up to four times, because healthy checks time out
// then as well; a build that asks for Redis fails if it never was calm.
//
// It takes about a minute, and with -short less. Where there is no redis-server
// it is skipped, see redistest.Need. There is no code but tests.
package chaostest
