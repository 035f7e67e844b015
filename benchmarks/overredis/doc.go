// Package overredis holds the limiters that share their state over Redis side
// by side: on one server of their own, by turns of a few thousand checks, in
// random order within each round.
//
//	err := overredis.Tables(duel.Options{}, os.Stdout)
//
// It tells checks a second, what a check costs the server by its own account,
// round trips and commands a check, what the client allocates, and how many
// units each of them admits when many ask at once, at the edge of a window, and
// after a wait. Where there is no redis-server it says so and measures nothing.
//
// "ours / theirs" compares the first row with each; of checks/s more is better,
// of server µs less. Server µs is what INFO commandstats says of the commands
// that the client has sent; what scripts call is within. Beside it stands the
// server's processor time for everything, also reading and writing. Faults are
// checks that failed or were answered wrongly. throttled is left out where many
// ask for one key: it gives up after ten attempts, as "accuracy" shows.
//
// In "accuracy", a bucket of 50 that refills at 50 a second keeps its word with
// up to 50 more for each second that has passed; a fixed window keeps its word
// with up to twice its count across an edge.
//
// Server and clients share the machine, so a client that is busier leaves less
// to the server, as it would to a service's own work.
package overredis
