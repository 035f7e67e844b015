package storetest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
)

//go:embed testdata/given.jsonl
var given []byte

// vector is one recorded bucket: every store reproduces every number. Time
// also steps backwards.
type vector struct {
	Name   string         `json:"name"`
	Limits []vectorLimit  `json:"limits"`
	Steps  []vectorAnswer `json:"steps"`
}

type vectorLimit struct {
	Algorithm string `json:"algorithm"`
	Count     int    `json:"count"`
	WindowUS  int64  `json:"window_us"`
	Burst     int    `json:"burst"`
}

type vectorAnswer struct {
	AtUS    int64         `json:"at_us"`
	Mode    string        `json:"mode"`
	Cost    int           `json:"cost"`
	Allowed bool          `json:"allowed"`
	Levels  []vectorLevel `json:"levels"`
}

type vectorLevel struct {
	Remaining    int   `json:"remaining"`
	ResetAfterUS int64 `json:"reset_after_us"`
	RetryAfterUS int64 `json:"retry_after_us"`
}

func (o opener) vectors(t *testing.T) {
	for line := range bytes.Lines(given) {
		var v vector
		require.NoError(t, json.Unmarshal(line, &v), "storetest: its own test data")
		t.Run(v.Name, func(t *testing.T) { v.replay(t, o.open(t)) })
	}
}

func (v vector) replay(t *testing.T, s subject) {
	t.Helper()
	limits := make([]core.Limit, len(v.Limits))
	for i, l := range v.Limits {
		algorithm, err := algorithmNamed(l.Algorithm)
		require.NoError(t, err, "storetest: its own test data")
		limits[i] = core.Limit{Algorithm: algorithm, Count: l.Count, Window: time.Duration(l.WindowUS) * us, Burst: l.Burst}
	}
	key := core.Key{Tier: "pro", ID: v.Name}
	for i, st := range v.Steps {
		mode, err := modeNamed(st.Mode)
		require.NoError(t, err, "storetest: its own test data")
		s.clock.Set(time.UnixMicro(st.AtUS).UTC())
		res := s.take(t, core.Request{Key: key, Limits: limits, Cost: st.Cost, Mode: mode})
		want := answer{allowed: st.Allowed, took: res.Charged, levels: make([]core.Level, len(limits))} // the vectors do not tell what was charged
		for j, l := range st.Levels {
			want.levels[j] = lv(l.Remaining, time.Duration(l.ResetAfterUS)*us, time.Duration(l.RetryAfterUS)*us)
		}
		if diff := want.differs(res); diff != "" {
			t.Fatalf("step %d of vector %s, at %d µs: %s under %s\n%s\nthe vectors are reproduced number for number",
				i+1, v.Name, st.AtUS, op{mode, st.Cost}, limitsText(limits), diff)
		}
	}
}

func algorithmNamed(name string) (core.Algorithm, error) {
	for a := core.GCRA; a <= core.SlidingLog; a++ {
		if a.String() == name {
			return a, nil
		}
	}
	return 0, fmt.Errorf("unknown algorithm %q", name)
}

func modeNamed(name string) (core.Mode, error) {
	switch name {
	case "charge":
		return core.Charge, nil
	case "look":
		return core.Look, nil
	case "force":
		return core.Force, nil
	default:
		return 0, fmt.Errorf("unknown mode %q", name)
	}
}
