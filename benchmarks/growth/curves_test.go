package growth

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
	"github.com/tierlimit/tierlimit/core"
)

// The figures of a smoke run mean nothing; tables and picture must be whole.
func TestTablesAndChart(t *testing.T) {
	curves, err := Measure(duel.Options{Rounds: 1, Slice: 100 * time.Microsecond, Quick: true})
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, curves.Write(&b))
	t.Log("\n" + b.String())
	assert.Equal(t, 4, strings.Count(b.String(), "|---|"), "tables")
	assert.NotContains(t, b.String(), "NaN")
	b.Reset()
	require.NoError(t, curves.Chart().SVG(&b))
	assert.Equal(t, 5, strings.Count(b.String(), `class="n c`), "named lines")
}

func TestSizes(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []int{10, 100, 1000}, sizes(duel.Options{}, 1, 3))
	assert.Equal(t, []int{1, 10}, sizes(duel.Options{Quick: true}, 0, 7))
}

// What the logs are measured by is admitted each time, or refused each time.
func TestFullLogs(t *testing.T) {
	t.Parallel()
	full := fill(10, 2)
	take := func() bool {
		r, err := full.store.Take(t.Context(), core.Request{
			Key: core.Key{Tier: "pro", ID: account(1)}, Limits: full.limits, Cost: 1,
		})
		require.NoError(t, err)
		return r.Allowed
	}
	for range 50 {
		assert.True(t, take())
		assert.False(t, take())
		full.now.at = full.now.at.Add(full.apart)
	}
}
