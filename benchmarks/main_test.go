package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestThePartsAreChosenByName(t *testing.T) {
	t.Parallel()
	all, err := choose("")
	require.NoError(t, err)
	assert.Len(t, all, len(parts()))
	some, err := choose("growth, memory")
	require.NoError(t, err)
	require.Len(t, some, 2)
	assert.Equal(t, "memory", some[0].name)
	assert.Equal(t, "growth", some[1].name)
	_, err = choose("memory,speed")
	require.ErrorContains(t, err, `no part "speed"`)
}

func TestOnlyWhatIsBetweenTheMarksIsReplaced(t *testing.T) {
	t.Parallel()
	page, err := replaced("a\n<!-- web -->\nold\n<!-- /web -->\nb\n", "web", "new\n\n")
	require.NoError(t, err)
	assert.Equal(t, "a\n<!-- web -->\n\nnew\n\n<!-- /web -->\nb\n", page)
	again, err := replaced(page, "web", "new")
	require.NoError(t, err)
	assert.Equal(t, page, again)
	_, err = replaced(page, "redis", "new")
	require.Error(t, err)
}

func TestAPartAloneIsRunByTheSameFlags(t *testing.T) {
	t.Parallel()
	c, err := parse([]string{"-rounds", "7", "-write", "-only", "memory,web", "-svg", "x.svg"})
	require.NoError(t, err)
	require.Len(t, c.parts, 2)
	alone, err := parse(c.argsOf(c.parts[1]))
	require.NoError(t, err)
	require.Len(t, alone.parts, 1)
	assert.Equal(t, "web", alone.parts[0].name)
	assert.Equal(t, c.options, alone.options)
	assert.Equal(t, c.svg, alone.svg)
	assert.Equal(t, c.readme, alone.readme)
}

// A word behind which flags are no flags would make each part start all of them.
func TestThereAreOnlyFlags(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-quick", "true"}, {"memory"}, {"-write", "--", "-only", "web"}} {
		_, err := parse(args)
		require.ErrorContains(t, err, "unexpected", args)
	}
	c, err := parse([]string{"-quick", "--"})
	require.NoError(t, err)
	_, err = parse(c.argsOf(c.parts[0]))
	require.ErrorContains(t, err, "unexpected", "and not all parts again")
}

func TestQuickIsShort(t *testing.T) {
	t.Parallel()
	c, err := parse([]string{"-quick", "-only", "growth"})
	require.NoError(t, err)
	assert.Equal(t, 3, c.options.Rounds)
	require.Len(t, c.parts, 1)
}
