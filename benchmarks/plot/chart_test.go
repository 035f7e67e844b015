package plot

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAChartIsWellFormedAndHasAllItsNames(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, Chart{Title: "a < b", X: "keys", Y: "ns", Lines: []Line{
		{Name: "one & two", Points: []Point{{1, 100}, {1e7, 250}}},
		{Name: "near", Points: []Point{{1, 90}, {10, 250}}},
		{Name: "empty"},
	}}.SVG(&b))
	d := xml.NewDecoder(strings.NewReader(b.String()))
	var text []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if s, ok := token.(xml.CharData); ok {
			text = append(text, string(s))
		}
	}
	for _, want := range []string{"a < b", "one & two", "near", "keys", "ns", "1", "10M"} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, b.String(), "NaN")
	assert.NotContains(t, b.String(), "Inf")
}

func TestAnAxisSpansWholeDecades(t *testing.T) {
	t.Parallel()
	a := newAxis([]float64{20, 3000}, 0, 300)
	assert.Equal(t, axis{low: 1, high: 4, from: 0, to: 300}, a)
	assert.InDelta(t, 0, a.at(10), 1e-9)
	assert.InDelta(t, 100, a.at(100), 1e-9)
	assert.Equal(t, axis{low: 2, high: 3, to: 1}, newAxis([]float64{100}, 0, 1), "at least one")
	assert.Equal(t, axis{low: 0, high: 1, to: 1}, newAxis(nil, 0, 1))
}

func TestDecade(t *testing.T) {
	t.Parallel()
	for d, want := range map[int]string{-2: "0.01", 0: "1", 3: "1000", 4: "10k", 5: "100k", 6: "1M", 7: "10M"} {
		assert.Equal(t, want, decade(d))
	}
}
