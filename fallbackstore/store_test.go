package fallbackstore_test

import (
	"testing"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/fallbackstore"
	"github.com/tierlimit/tierlimit/memstore"
	"github.com/tierlimit/tierlimit/storetest"
)

func TestStoreIsAStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(_ testing.TB, c *fakeclock.Clock) core.Store {
		return fallbackstore.New(memstore.New(memstore.WithClock(c)), memstore.New(memstore.WithClock(c)))
	})
}
