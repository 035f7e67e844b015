package storetest

import (
	"testing"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
)

// Run proves the stores that open gives. It fails t with what the contract
// wants wherever a store differs from [core.Apply] in a single number, and
// takes about ten seconds with a store that answers 3,000 questions a second.
//
// open is called once or more in every subtest, never by two at a time. It
// gives an empty store that judges by c, and cleans up by tb.Cleanup. Each part
// is a subtest of its own: go test -run 'TestStore/SlidingLog'. A
// [core.Preparer] passes all of them twice, in twice the time.
func Run(t *testing.T, open func(tb testing.TB, c *fakeclock.Clock) core.Store) {
	t.Helper()
	o := opener(open)
	o.parts(t)
	t.Run("Prepared", o.prepared)
}

// parts are what every store has to pass.
func (o opener) parts(t *testing.T) {
	t.Helper()
	t.Run("Contract", o.contract)
	t.Run("Keys", o.keys)
	t.Run("Reset", o.reset)
	t.Run("GCRA", o.tables(gcraTables()))
	t.Run("FixedWindow", o.tables(fixedWindowTables()))
	t.Run("SlidingLog", o.tables(slidingLogTables()))
	t.Run("Windows", o.tables(windowsTables()))
	t.Run("Change", o.tables(changeTables()))
	t.Run("ClockBack", o.tables(clockBackTables()))
	t.Run("Writes", o.writes)
	t.Run("Concurrency", o.concurrency)
	t.Run("Vectors", o.vectors)
	t.Run("Random", o.random)
}
