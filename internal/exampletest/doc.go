// Package exampletest holds what the example services promise when they share a
// limit through Redis, for the tests of each: they are one text for Gin, Echo and
// net/http. The services are real processes beside a real server.
//
//	func TestMain(m *testing.M) { exampletest.Main(m, main) }
//
//	func TestSharedThroughRedis(t *testing.T) { exampletest.Redis(t) }
package exampletest
