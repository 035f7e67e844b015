package core_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

// vector is a line of testdata: limits, and steps with the answer to each.
type vector struct {
	Name   string `json:"name"`
	Limits []struct {
		Algorithm string `json:"algorithm"`
		Count     int    `json:"count"`
		WindowUS  int64  `json:"window_us"`
		Burst     int    `json:"burst"`
	} `json:"limits"`
	Steps []struct {
		AtUS    int64         `json:"at_us"`
		Mode    string        `json:"mode"`
		Cost    int           `json:"cost"`
		Allowed bool          `json:"allowed"`
		Levels  []vectorLevel `json:"levels"`
	} `json:"steps"`
}

type vectorLevel struct {
	Remaining    int   `json:"remaining"`
	ResetAfterUS int64 `json:"reset_after_us"`
	RetryAfterUS int64 `json:"retry_after_us"`
}

func (l vectorLevel) level() core.Level {
	return core.Level{
		Remaining:  l.Remaining,
		ResetAfter: time.Duration(l.ResetAfterUS) * us,
		RetryAfter: time.Duration(l.RetryAfterUS) * us,
	}
}

func (v *vector) limits(t *testing.T) []core.Limit {
	t.Helper()
	algorithms := map[string]core.Algorithm{}
	for _, a := range []core.Algorithm{core.GCRA, core.FixedWindow, core.SlidingLog} {
		algorithms[a.String()] = a
	}
	limits := make([]core.Limit, 0, len(v.Limits))
	for _, l := range v.Limits {
		a, ok := algorithms[l.Algorithm]
		require.True(t, ok, l.Algorithm)
		limits = append(limits, core.Limit{Algorithm: a, Count: l.Count, Window: time.Duration(l.WindowUS) * us, Burst: l.Burst})
	}
	return limits
}

func readVectors(t *testing.T) []vector {
	t.Helper()
	var vectors []vector
	files, err := filepath.Glob("testdata/*.jsonl")
	require.NoError(t, err)
	for _, name := range files {
		file, err := os.Open(name)
		require.NoError(t, err)
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			var v vector
			require.NoError(t, json.Unmarshal(lines.Bytes(), &v))
			vectors = append(vectors, v)
		}
		require.NoError(t, lines.Err())
		require.NoError(t, file.Close())
	}
	require.NotEmpty(t, vectors)
	return vectors
}

func TestApplyReproducesEveryVectorWhateverTheOrderOfItsWindows(t *testing.T) {
	t.Parallel()
	modes := map[string]core.Mode{"charge": charge, "look": look, "force": force}
	for _, v := range readVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			limits := v.limits(t)
			backwards := slices.Clone(limits)
			slices.Reverse(backwards)
			var one, other, mixed core.State
			for i, s := range v.Steps {
				mode, ok := modes[s.Mode]
				require.True(t, ok, s.Mode)
				r := core.Request{Limits: limits, Cost: s.Cost, Mode: mode}
				reversed := r
				reversed.Limits = backwards
				now := time.UnixMicro(s.AtUS)

				var want, mirrored core.Result
				for j, l := range s.Levels {
					want.Levels[j], mirrored.Levels[len(s.Levels)-1-j] = l.level(), l.level()
				}
				got, back := core.Apply(&one, now, r), core.Apply(&other, now, reversed)
				require.Equal(t, s.Allowed, got.Allowed, "step %d", i)
				require.Equal(t, want.Levels, got.Levels, "step %d", i)
				require.Equal(t, s.Allowed, back.Allowed, "step %d, reversed", i)
				require.Equal(t, mirrored.Levels, back.Levels, "step %d, reversed", i)
				require.Equal(t, got.Charged, back.Charged, "step %d, reversed", i)
				if i%2 == 1 { // one bucket may be asked in either order
					r, want.Levels = reversed, mirrored.Levels
				}
				require.Equal(t, want.Levels, core.Apply(&mixed, now, r).Levels, "step %d, now and then reversed", i)
			}
		})
	}
}
