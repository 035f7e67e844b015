package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/redistest"
)

// asProgram makes the test's binary the program that it tests.
const asProgram = "EXAMPLE_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// instance is the address of a process of this program.
type instance string

// startInstance starts a process and returns when it limits through server.
func startInstance(t *testing.T, server *redistest.Server) instance {
	t.Helper()
	addr := redistest.Reserve(t)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], "-addr", addr, "-redis", server.Addr())
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
		return 0, nil, "", err
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

// anasKey is what services in the field call the bucket of key_ana.
const anasKey = "trt:free:33d2315cbeb866b8b237240a98d605f2e6e41b8a"

func TestProcessesShareOneLimitThroughRedis(t *testing.T) {
	server := redistest.Start(t)
	instances := []instance{startInstance(t, server), startInstance(t, server)}
	server.Do(t, "FLUSHALL") // of what the start spent
	for i := range 10 {
		status, remaining, body := instances[i%2].anaGets(t, "/data")
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "data\n", body)
		require.Equal(t, strconv.Itoa(9-i), remaining)
	}
	status, remaining, body := instances[0].anaGets(t, "/data")
	require.Equal(t, http.StatusTooManyRequests, status)
	require.Equal(t, "0", remaining)
	require.Regexp(t, `^{"error":"rate limit exceeded","tier":"free","retry_after":[56]}$`, body)
	status, _, _ = instances[1].anaGets(t, "/data")
	require.Equal(t, http.StatusTooManyRequests, status, "the other refuses as well")

	require.Equal(t, []string{anasKey}, server.Keys(t, "*"))
	life, ok := server.Do(t, "PTTL", anasKey).(int64)
	require.True(t, ok)
	require.GreaterOrEqual(t, life, int64(58_000))
	require.LessOrEqual(t, life, int64(60_000))
	require.Regexp(t, `^\d{16}$`, server.Do(t, "GET", anasKey))
}

// TestProcessHonoursWhatAnotherServiceSpent sets a tat half a minute ahead,
// which is five of ten a minute.
func TestProcessHonoursWhatAnotherServiceSpent(t *testing.T) {
	server := redistest.Start(t)
	api := startInstance(t, server)
	tat := time.Now().Add(30 * time.Second).UnixMicro()
	server.Do(t, "SET", anasKey, tat, "PX", 30_000)
	status, remaining, _ := api.anaGets(t, "/data")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "4", remaining)
	require.Equal(t, strconv.FormatInt(tat+6_000_000, 10), server.Do(t, "GET", anasKey), "and leaves what the other understands")
}

func TestProcessAsksRedisNothingForWhatCanNeverPass(t *testing.T) {
	server := redistest.Start(t)
	api := startInstance(t, server)
	monitor := server.Monitor(t)
	status, _, body := api.anaGets(t, "/backup")
	require.Equal(t, http.StatusForbidden, status)
	require.JSONEq(t, `{"error":"request cost exceeds tier limit","tier":"free","cost":50,"limit":10}`, body)
	for _, c := range monitor.Stop(t) {
		require.Equal(t, "PING", strings.ToUpper(c.Words[0]), "%q", c.Words)
	}
	status, remaining, _ := api.anaGets(t, "/data")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "9", remaining)
}
