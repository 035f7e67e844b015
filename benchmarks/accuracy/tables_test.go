package accuracy

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
	"github.com/tierlimit/tierlimit/benchmarks/rival"
)

func TestTables(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, Tables(duel.Options{Quick: true}, &b))
	t.Log("\n" + b.String())
	for _, c := range contenders() {
		assert.Contains(t, b.String(), "| "+c.Name+" |")
	}
}

// By a clock that stands still until it is moved nothing here depends on the machine.
func TestOursIsAsExactAsItsAlgorithm(t *testing.T) {
	t.Parallel()
	edges := map[string]int{"tierlimit, GCRA": 120, "tierlimit, FixedWindow": 199, "tierlimit, SlidingLog": 100}
	for _, c := range rival.Algorithms() {
		assert.Equal(t, limit, burst(c), c.Name)
		assert.Equal(t, edges[c.Name], edge(c, time.Second), c.Name)
		admitted, failed := crowd(c, 10_000)
		assert.Equal(t, 10_000, admitted, c.Name)
		assert.Zero(t, failed, c.Name)
		assert.Equal(t, swept{}, sweep(c, 10_000, time.Second), c.Name)
	}
}

func TestMostCountsWhatWasForCertainWithinAWindow(t *testing.T) {
	t.Parallel()
	const us = time.Microsecond
	assert.Zero(t, most(nil, 10*us))
	assert.Equal(t, 2, most([]span{{0, 1 * us}, {7 * us, 9 * us}, {5 * us, 16 * us}}, 10*us), "the third may have been judged too late")
	assert.Equal(t, 2, most([]span{{0, 1 * us}, {7 * us, 9 * us}, {8 * us, 10 * us}}, 10*us), "within less than a microsecond of the end")
	assert.Equal(t, 3, most([]span{{30 * us, 31 * us}, {0, 1 * us}, {8 * us, 9 * us}, {5 * us, 6 * us}}, 10*us))
}
