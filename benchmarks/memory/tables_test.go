package memory

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/benchmarks/duel"
	"github.com/tierlimit/tierlimit/benchmarks/rival"
)

// The figures of a smoke run mean nothing; the tables must be whole.
func TestTables(t *testing.T) {
	var b strings.Builder
	require.NoError(t, Tables(duel.Options{Rounds: 1, Slice: 100 * time.Microsecond, Quick: true}, &b))
	t.Log("\n" + b.String())
	for _, c := range rival.All() {
		assert.Equal(t, 4, strings.Count(b.String(), "\n| "+c.Name+" |"), c.Name)
	}
	assert.NotContains(t, b.String(), "NaN")
}

func TestTheBestIsNoneOfOurs(t *testing.T) {
	t.Parallel()
	rows := make([]duel.Row, len(rival.All()))
	for i, c := range rival.All() {
		rows[i] = duel.Row{Name: c.Name, Ratio: 0.1}
		if c.Ours || c.Hashed {
			rows[i].Ratio = 1
		}
	}
	assert.Equal(t, "httprate's counter", best(rows).Name)
	assert.NotContains(t, []string{
		"httprate's counter", rows[rival.AtStore].Name, rows[rival.AtLimiter].Name, rows[rival.AtPrepared].Name,
	}, bestExact(rows).Name)
}

func TestEachIsAskedForByACopyOfItsOwn(t *testing.T) {
	t.Parallel()
	keys := inserted(1000)
	assert.ElementsMatch(t, keys, asked(keys, 1))
	assert.NotEqual(t, keys, asked(keys, 1))
}
