package rival

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The comparison is honest only if each does what it is asked to.
func TestEachAdmitsTheLimitAndRefusesBeyondIt(t *testing.T) {
	t.Parallel()
	contenders := append(All(), Algorithms()...)
	for _, c := range append(contenders, HTTPRate()) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			check, stop := c.Open(Limit{Count: 10, Window: 24 * time.Hour})
			defer stop()
			for _, key := range []string{"ana", "ben"} {
				for i := range 12 {
					allowed, err := check(key)
					require.NoError(t, err)
					assert.Equal(t, i < 10, allowed, "%s %d", key, i)
				}
			}
		})
	}
}

func TestEndlessRefusesNothingAndOnceAllButOne(t *testing.T) {
	t.Parallel()
	for _, c := range All() {
		endless, stopEndless := c.Open(Endless)
		once, stopOnce := c.Open(Once)
		for i := range 10_000 {
			allowed, err := endless("ana")
			require.NoError(t, err)
			require.True(t, allowed, c.Name)
			allowed, err = once("ana")
			require.NoError(t, err)
			require.Equal(t, i == 0, allowed, c.Name)
		}
		stopEndless()
		stopOnce()
	}
}

func TestThoseWithAClockHeedIt(t *testing.T) {
	t.Parallel()
	for _, c := range append(All(), Algorithms()...) {
		if !c.Clock {
			continue
		}
		now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		check, stop := c.Open(Limit{Count: 1, Window: time.Hour, Now: func() time.Time { return now }})
		for _, want := range []bool{true, false} {
			allowed, err := check("ana")
			require.NoError(t, err)
			assert.Equal(t, want, allowed, c.Name)
		}
		now = now.Add(2 * time.Hour)
		allowed, err := check("ana")
		require.NoError(t, err)
		assert.True(t, allowed, c.Name)
		stop()
	}
}
