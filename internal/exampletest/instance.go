package exampletest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/redistest"
)

// asProgram makes the test's binary the program that it tests.
const asProgram = "EXAMPLE_AS_PROGRAM"

// Main runs the tests, or program where a test has started this binary as one.
func Main(m *testing.M, program func()) {
	if os.Getenv(asProgram) != "" {
		program()
		return
	}
	m.Run()
}

// instance is the address of a process of this program.
type instance string

// startInstance starts a process and returns when it limits through server.
func startInstance(t *testing.T, server *redistest.Server) instance {
	t.Helper()
	addr := redistest.Reserve(t)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], "-addr", addr, "-redis", server.Addr()) //nolint:gosec // it is this binary
	cmd.Env = append(os.Environ(), asProgram+"=yes")
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // It may have ended.
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the instance said: %s", said.String())
		}
	})
	redistest.Wait(t, 20*time.Second, "an instance on "+addr, func() error {
		status, header, _, err := instance(addr).ask(t, "key_bea", "/data")
		if err == nil && (status != http.StatusOK || header.Get("X-RateLimit-Limit") == "") {
			err = errors.New("it does not limit yet")
		}
		return err
	})
	return instance(addr)
}

func (i instance) ask(t *testing.T, key, path string) (status int, header http.Header, body string, err error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+string(i)+path, http.NoBody)
	require.NoError(t, err)
	r.Header.Set("X-Api-Key", key)
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, "", err //nolint:wrapcheck // for a test to read
	}
	defer func() { _ = w.Body.Close() }() // It was read.
	text, err := io.ReadAll(w.Body)
	return w.StatusCode, w.Header, string(text), err
}

// anaGets is ask where an answer is due.
func (i instance) anaGets(t *testing.T, path string) (status int, remaining, body string) {
	t.Helper()
	status, header, body, err := i.ask(t, "key_ana", path)
	require.NoError(t, err)
	return status, header.Get("X-RateLimit-Remaining"), body
}
