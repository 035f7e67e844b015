package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/redistest"
)

func TestTwoInstancesShareTenRequests(t *testing.T) {
	server := redistest.Start(t)
	first, second := redistest.Reserve(t), redistest.Reserve(t)
	for range 2 { // a caller of another run has a bucket of his own
		var want, got strings.Builder
		for n := 1; n <= 9; n += 2 {
			fmt.Fprintf(&want, "request %2d to %s: 200, %d left\n", n, first, 10-n)
			fmt.Fprintf(&want, "request %2d to %s: 200, %d left\n", n+1, second, 9-n)
		}
		fmt.Fprintf(&want, "request 11 to %s: 429, 0 left\n", first)
		require.NoError(t, run(server.Addr(), [2]string{first, second}, &got))
		require.Equal(t, want.String(), got.String())
	}
	require.Len(t, server.Keys(t, "trt:free:*"), 2)
}

func TestItSaysWhyItCannotStart(t *testing.T) {
	server := redistest.Start(t)
	taken := server.Addr()
	require.ErrorContains(t, run(server.Addr(), [2]string{taken, taken}, nil), "address already in use")
}
