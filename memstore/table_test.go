package memstore

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

const noon = int64(1_790_947_094_000_000) // when the white-box tests take place

// crowd are fingerprints that want the same few cells: some have the very same
// hash and differ in the tag alone, and many probes go round the table's end.
func crowd(n int) []fingerprint {
	fs := make([]fingerprint, n)
	for i := range fs {
		fs[i] = fingerprint{hash: uint64(i/3)*1024 + 1020, extra: uint64(i % 3)}
	}
	return fs
}

// check holds what sh keeps against want, and its counters against its cells.
func (sh *shard) check(t *testing.T, want map[fingerprint]uint64) {
	t.Helper()
	table := sh.table.Load()
	live, gone := 0, 0
	for i := range table.cells {
		switch hash := table.cells[i].hash.Load(); {
		case hash == deleted:
			gone++
		case hash > deleted:
			live++
		}
	}
	require.Equal(t, live, sh.live, "keys counted")
	require.Equal(t, gone, sh.deleted, "deleted cells counted")
	require.LessOrEqual(t, (live+gone)*4, len(table.cells)*3, "a probe must end soon")
	require.Len(t, want, live)
	for f, word := range want {
		i, w := table.find(f)
		require.GreaterOrEqual(t, i, 0, "%+v is lost", f)
		require.Equal(t, word, w)
	}
}

func TestAShardKeepsExactlyWhatIsInIt(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		random := rand.New(rand.NewPCG(seed, 1))
		sh := &shard{}
		sh.table.Store(newTable(minCells))
		keys := crowd(90)
		want := map[fingerprint]uint64{}
		for step := range 4000 {
			f := keys[random.IntN(len(keys))]
			// The crowd comes and goes, so that the table grows, is cleaned and shrinks.
			busy := step/500%2 == 0
			i, w := sh.table.Load().find(f)
			_, known := want[f]
			require.Equal(t, known, i >= 0)
			switch {
			case !known && (busy || random.IntN(4) == 0):
				word := pack(noon+random.Int64N(1000), false, f.tag())
				sh.insert(f, word)
				want[f] = word
			case known && (!busy || random.IntN(4) == 0):
				require.False(t, sh.remove(sh.table.Load(), i, w+1<<tatShift), "a hitter has charged it meanwhile")
				require.True(t, sh.remove(sh.table.Load(), i, w))
				delete(want, f)
			}
			if random.IntN(50) == 0 {
				sh.shrink()
			}
			if step%20 == 0 {
				sh.check(t, want)
			}
		}
		for f, w := range want {
			i, _ := sh.table.Load().find(f)
			require.True(t, sh.remove(sh.table.Load(), i, w))
		}
		sh.shrink()
		sh.check(t, nil)
		require.Len(t, sh.table.Load().cells, minCells)
	}
}

func TestCellsBeforeAnEmptyOneEndAProbeAgain(t *testing.T) {
	t.Parallel()
	sh := &shard{}
	sh.table.Store(newTable(minCells))
	row := []fingerprint{{hash: 14}, {hash: 22}, {hash: 30}, {hash: 38}} // in cells 6, 7, 0 and 1
	for _, f := range row {
		sh.insert(f, pack(noon, false, 0))
	}
	for _, f := range row[:3] {
		i, w := sh.table.Load().find(f)
		require.True(t, sh.remove(sh.table.Load(), i, w))
	}
	require.Equal(t, 3, sh.deleted, "a key follows them")
	i, w := sh.table.Load().find(row[3])
	require.True(t, sh.remove(sh.table.Load(), i, w))
	require.Zero(t, sh.deleted, "nothing follows them")
	sh.check(t, nil)
}

func TestALateHitterMeetsAFrozenWord(t *testing.T) {
	t.Parallel()
	sh := &shard{}
	sh.table.Store(newTable(minCells))
	f := fingerprint{hash: 77, extra: 5}
	word := pack(noon, false, f.tag())
	late := func() (swapped bool) { // it has found the cell before the key left it
		before := sh.table.Load()
		i, w := before.find(f)
		sh.rebuild(before)
		return before.cells[i].word.CompareAndSwap(w, pack(noon+1, false, f.tag()))
	}
	sh.insert(f, word)
	require.False(t, late(), "the key has moved to another table")
	before := sh.table.Load()
	i, w := before.find(f)
	require.Equal(t, word, w, "nothing is lost on the way")
	require.True(t, sh.remove(before, i, w))
	require.False(t, before.cells[i].word.CompareAndSwap(w, pack(noon+1, false, f.tag())), "the key is gone")
	other := fingerprint{hash: 77 + uint64(len(before.cells)), extra: 6}
	sh.insert(other, pack(noon, false, other.tag()))
	require.False(t, before.cells[i].word.CompareAndSwap(w, pack(noon+1, false, f.tag())), "another key lives here")
	got, _ := before.find(f)
	require.Equal(t, -1, got)
}

func TestKeysOfOneHashHaveBucketsOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := New(WithMaxKeys(1000))
	limits := core.PerMinute(3).Limits()
	r := core.Request{Limits: limits, Cost: 1}
	for round := range 4 {
		for _, f := range crowd(60) {
			res := inCell(s, f, &r)
			require.Equal(t, round < 3, res.Allowed, "%+v in round %d", f, round)
			require.Equal(t, max(2-round, 0), res.Levels[0].Remaining)
		}
	}
	require.Equal(t, 60, s.Len())
	for i, f := range crowd(60) {
		s.resetCell(f)
		require.Equal(t, 59-i, s.Len())
	}
	s.shards[0].check(t, nil)
}

func TestTheHashesOfEmptyCellsAreNoKeys(t *testing.T) {
	t.Parallel()
	s := New()
	for range 1000 {
		f := s.fingerprint(&core.Key{ID: time.Now().String()})
		require.Greater(t, f.hash, deleted)
	}
}

func TestTheOrderOfWindowsIsTheSameSet(t *testing.T) {
	t.Parallel()
	f := fingerprint{hash: 1234, extra: 5678}
	ab := core.PerSecond(1).And(core.PerDay(2)).Limits()
	ba := core.PerDay(7).And(core.PerSecond(9)).Limits()
	require.Equal(t, f.withSet(ab), f.withSet(ba), "the counts do not matter either")

	sets := map[fingerprint]string{}
	spans := []time.Duration{time.Microsecond, time.Millisecond, time.Second, time.Minute, time.Hour, 24 * time.Hour}
	add := func(q core.Quota) {
		key := f.withSet(q.Limits())
		require.NotContains(t, sets, key, "%s", q)
		sets[key] = q.String()
	}
	for i, a := range spans {
		for _, x := range []core.Algorithm{core.GCRA, core.FixedWindow, core.SlidingLog} {
			add(core.Per(1, a).Using(x))
			for _, b := range spans[:i] {
				for _, y := range []core.Algorithm{core.GCRA, core.FixedWindow, core.SlidingLog} {
					add(core.Per(1, a).Using(x).And(core.Per(1, b).Using(y)))
				}
			}
		}
	}
}
