package record_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/internal/record"
)

func TestPassedIsAllowed(t *testing.T) {
	t.Parallel()
	for o := range core.AllowedOnStorageError + 2 { // one that is none, too
		for _, shadowed := range []bool{false, true} {
			d := core.Decision{Outcome: o, Shadowed: shadowed}
			require.Equal(t, d.Allowed(), record.Passed(&d), d)
		}
	}
}

// A refused request gets a record only where somebody looks for it.
func TestBegin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cost         int
		keep         bool
		record, pass bool
	}{
		{10, false, true, true},
		{10, true, true, true},
		{11, false, false, false},
		{11, true, true, false},
	} {
		l, h := newLimiter(t), http.Header{}
		var d core.Decision
		r, passed := record.Begin(t.Context(), terms(l), ana, c.cost, c.keep, h, &d)
		require.Equal(t, c.pass, passed, c)
		require.Equal(t, c.pass, d.Allowed(), c)
		require.Equal(t, c.record, r != nil, c)
		require.Equal(t, "free", h.Get("Tier"), c)
		if latest, known := r.Decision(); known {
			require.Equal(t, d, latest, c)
		}
	}
}
