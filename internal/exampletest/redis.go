package exampletest

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/redistest"
)

// anasKey is what services in the field call the bucket of key_ana.
const anasKey = "trt:free:33d2315cbeb866b8b237240a98d605f2e6e41b8a"

// Redis tests processes of the program that [Main] was given, with -addr and
// -redis; it skips as redistest does.
func Redis(t *testing.T) {
	t.Helper()
	t.Run("processes share one limit", shareOneLimit)
	t.Run("a process honours what another service spent", honourAnothersCharge)
	t.Run("a process asks nothing for what can never pass", askNothingForWhatCanNeverPass)
}

func shareOneLimit(t *testing.T) {
	t.Helper()
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

// honourAnothersCharge sets a tat half a minute ahead,
// which is five of ten a minute.
func honourAnothersCharge(t *testing.T) {
	t.Helper()
	server := redistest.Start(t)
	api := startInstance(t, server)
	tat := time.Now().Add(30 * time.Second).UnixMicro()
	server.Do(t, "SET", anasKey, tat, "PX", 30_000)
	status, remaining, _ := api.anaGets(t, "/data")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "4", remaining)
	require.Equal(t, strconv.FormatInt(tat+6_000_000, 10), server.Do(t, "GET", anasKey), "and leaves what the other understands")
}

func askNothingForWhatCanNeverPass(t *testing.T) {
	t.Helper()
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
