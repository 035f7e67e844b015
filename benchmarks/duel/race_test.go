package duel

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fake notes its turns, and allocates as often as it is told an operation.
type fake struct {
	name   string
	allocs int
	turns  *[]string
	ran    []int
	kept   [][]byte
}

func (f *fake) candidate() Candidate {
	return Candidate{Name: f.name, N: 100, Run: func(n int) {
		f.ran = append(f.ran, n)
		*f.turns = append(*f.turns, f.name)
		for range n * f.allocs {
			f.kept = append(f.kept[:0], make([]byte, 64))
		}
		time.Sleep(time.Microsecond) // an operation that takes real time, which is what is measured
	}}
}

func TestEachCandidateHasOneTurnARound(t *testing.T) {
	t.Parallel()
	order := func(seed uint64) []string {
		var turns []string
		a, b := &fake{name: "a", turns: &turns}, &fake{name: "b", turns: &turns}
		rows := Race(Options{Rounds: 9, Seed: seed}, a.candidate(), b.candidate())
		require.Len(t, rows, 2)
		assert.Equal(t, "a", rows[0].Name)
		assert.Equal(t, "b", rows[1].Name)
		for i := 0; i < len(turns); i += 2 {
			assert.NotEqual(t, turns[i], turns[i+1], "round %d", i/2)
		}
		for _, r := range rows {
			assert.Len(t, r.Rounds, 9)
		}
		for _, n := range append(a.ran, b.ran...) {
			assert.Equal(t, 100, n)
		}
		return turns
	}
	first, again, other := order(1), order(1), order(2)
	assert.Equal(t, first, again, "a seed gives its order")
	assert.NotEqual(t, first, other)
}

func TestTheFirstIsComparedWithItselfAsOne(t *testing.T) {
	t.Parallel()
	var turns []string
	rows := Race(Options{Rounds: 3}, (&fake{turns: &turns}).candidate(), (&fake{turns: &turns}).candidate())
	assert.InDelta(t, 1, rows[0].Ratio, 0)
	assert.LessOrEqual(t, rows[1].Low, rows[1].Ratio)
	assert.LessOrEqual(t, rows[1].Ratio, rows[1].High)
}

// Other tests may allocate meanwhile, so this one is not parallel.
func TestAllocationsAreCounted(t *testing.T) { //nolint:paralleltest // see above
	var turns []string
	none, three := &fake{turns: &turns}, &fake{turns: &turns, allocs: 3}
	rows := Race(Options{Rounds: 5}, none.candidate(), three.candidate())
	assert.InDelta(t, 0, rows[0].Allocs, 0.2)
	assert.InDelta(t, 3, rows[1].Allocs, 0.5)
	assert.InDelta(t, 3*64, rows[1].Bytes, 64)
}

func TestPrepareComesBeforeEveryRunWithTheSameN(t *testing.T) {
	t.Parallel()
	prepared := 0
	rows := Race(Options{Rounds: 4, Slice: time.Microsecond}, Candidate{
		Prepare: func(n int) { assert.Zero(t, prepared); prepared = n },
		Run:     func(n int) { assert.Equal(t, prepared, n); prepared = 0 },
	})
	assert.Len(t, rows[0].Rounds, 4)
}

func TestCalibrationIsBounded(t *testing.T) {
	t.Parallel()
	n := calibrate(Candidate{Run: func(int) {}}, time.Hour)
	assert.LessOrEqual(t, n, maxOperations)
	assert.Equal(t, 1, calibrate(Candidate{Run: func(int) { time.Sleep(time.Millisecond) }}, time.Nanosecond)) // as above
}

func TestWrite(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, Write(&b, []Row{
		{Name: "ours", Ns: 98.72, Ratio: 1, Low: 1, High: 1},
		{Name: "theirs", Ns: 1234.5, Ratio: 0.5, Low: 0.25, High: 0.75, Allocs: 2, Bytes: 40},
	}))
	assert.Equal(t, `|  | ns | ours / theirs | quartiles | allocs | B |
|---|---:|---:|---:|---:|---:|
| ours | 98.7 | 1.00 | 1.00 to 1.00 | 0 | 0 |
| theirs | 1234 | 0.50 | 0.25 to 0.75 | 2 | 40 |

`, b.String())
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v    float64
		want string
	}{{0, "0"}, {-0.001, "0"}, {0.25, "0.25"}, {5, "5"}, {9.994, "9.99"}, {9.996, "10"}, {98.72, "98.7"}, {99.96, "100"}, {1e6, "1000000"}} {
		assert.Equal(t, c.want, Number(c.v), c.v)
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	assert.InDelta(t, 2, Quantile([]float64{3, 1, 2}, 0.5), 0)
	assert.InDelta(t, 2.5, Quantile([]float64{4, 1, 2, 3}, 0.5), 0)
	assert.InDelta(t, 1.5, Quantile([]float64{3, 1, 2}, 0.25), 0)
	assert.True(t, math.IsNaN(Quantile(nil, 0.5)))
}

func TestBest(t *testing.T) {
	t.Parallel()
	rows := []Row{{Name: "ours", Ratio: 1}, {Name: "a", Ratio: 0.4}, {Name: "b", Ratio: 0.9}}
	assert.Equal(t, "b", Best(rows).Name)
	assert.Empty(t, Best(nil).Name)
}
