package httplimit_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/httplimit"
)

// chunks reads text in pieces of random length, some of them empty, and ends
// with err, which may come with the last piece.
type chunks struct {
	text []byte
	rng  *rand.Rand
	err  error
}

func (c *chunks) Read(p []byte) (int, error) {
	n := copy(p, c.text[:min(len(c.text), c.rng.IntN(20))])
	c.text = c.text[n:]
	if len(c.text) == 0 && (n == 0 || c.rng.IntN(2) == 0) {
		return n, c.err
	}
	return n, nil
}

func FuzzPeekBody(f *testing.F) {
	f.Add([]byte(""), int64(0), uint64(1), false)
	f.Add([]byte("0123456789"), int64(10), uint64(2), false)
	f.Add([]byte("0123456789"), int64(9), uint64(3), true)
	f.Add(bytes.Repeat([]byte("x"), 5000), int64(600), uint64(4), true)
	f.Fuzz(func(t *testing.T, text []byte, limit int64, seed uint64, fails bool) {
		end := io.EOF
		if fails {
			end = io.ErrClosedPipe
		}
		r, original := post(&chunks{text, rand.New(rand.NewPCG(seed, 0)), end}, -1)
		for range 3 {
			got, err := httplimit.PeekBody(r, limit)
			switch {
			case int64(len(text)) > max(limit, 0):
				require.Error(t, err)
				require.Nil(t, got)
			case fails:
				require.ErrorIs(t, err, httplimit.ErrBodyRead)
			default:
				require.NoError(t, err)
				require.True(t, bytes.Equal(text, got))
			}
		}
		whole, err := io.ReadAll(r.Body)
		require.True(t, bytes.Equal(text, whole))
		if fails {
			require.Equal(t, io.ErrClosedPipe, err)
		} else {
			require.NoError(t, err)
		}
		require.NoError(t, r.Body.Close())
		require.Equal(t, 1, original.closed)
	})
}
