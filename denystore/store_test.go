package denystore_test

import (
	"testing"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/denystore"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/memstore"
	"github.com/tierlimit/tierlimit/storetest"
)

func TestStoreIsAStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(_ testing.TB, c *fakeclock.Clock) core.Store {
		return denystore.New(memstore.New(memstore.WithClock(c)), denystore.WithClock(c))
	})
}
