package record

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyTheFirstSetsAMark(t *testing.T) {
	t.Parallel()
	var m marks
	require.False(t, m.has(owned))
	var first atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		for _, mark := range []uint32{owned, settled, watched} {
			wg.Go(func() {
				if m.set(mark) {
					first.Add(1)
				}
			})
		}
	}
	wg.Wait()
	require.EqualValues(t, 3, first.Load())
	require.True(t, m.has(owned) && m.has(settled) && m.has(watched))
}
