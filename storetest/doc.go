// Package storetest proves a [core.Store]: one call holds it against
// [core.Apply], number for number, and another measures it.
//
//	func open(tb testing.TB, clock *fakeclock.Clock) core.Store {
//		store := mystore.New(mystore.WithClock(clock))
//		tb.Cleanup(store.Close)
//		return store
//	}
//
//	func TestStore(t *testing.T)      { storetest.Run(t, open) }
//	func BenchmarkStore(b *testing.B) { storetest.Bench(b, open) }
//
// open gives an empty store that judges by clock and by nothing else; it is
// called once or more in every subtest, and what it opened is closed by
// tb.Cleanup. Nothing sleeps: time moves when the clock is moved, now and then
// backwards. [Run] asks about 30,000 questions, up to 1,000 of them at once, so
// a store that caps what is in flight or gives up early is opened with room. It
// asks a [core.Preparer] all of them again, in its short way wherever a limiter
// would.
//
// A store that returns [core.ErrUnsupported] has those parts skipped. A single
// GCRA window is the least that a store must know.
//
// It does not prove what a store does when its database is slow, full or gone,
// that state which has run out is freed, how much memory a key takes, or what
// two processes do to one database.
package storetest
