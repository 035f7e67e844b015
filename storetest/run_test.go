package storetest_test

import (
	"testing"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/fakeclock"
	"github.com/tierlimit/tierlimit/storetest"
)

func openMapStore(_ testing.TB, c *fakeclock.Clock) core.Store { return NewMapStore(c) }

func TestReference(t *testing.T) { storetest.Run(t, openMapStore) }

func BenchmarkReference(b *testing.B) { storetest.Bench(b, openMapStore) }
