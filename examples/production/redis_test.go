package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/internal/redistest"
	"github.com/tierlimit/tierlimit/redisstore"
)

// TestWithARealRedis that is killed and comes back: two instances share limits,
// then the API goes on locally, pages are open and the login is closed, until
// all is as before.
func TestWithARealRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	var apis [2]http.Handler
	for i := range apis {
		shared, err := redisstore.Open(server.ClientOption())
		require.NoError(t, err)
		t.Cleanup(shared.Close)
		require.NoError(t, shared.Ready(t.Context()))
		apis[i], err = newAPI(shared, len(apis))
		require.NoError(t, err)
	}
	ask := func(instance int, method, path, key string) int {
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("X-Api-Key", key)
		w := httptest.NewRecorder()
		apis[instance].ServeHTTP(w, r)
		return w.Code
	}
	admitted := func(n int, method, path, key string) int {
		count := 0
		for i := range n {
			if ask(i%len(apis), method, path, key) == http.StatusOK {
				count++
			}
		}
		return count
	}
	require.Equal(t, 2, admitted(3, http.MethodPost, "/report", "key_ana"))
	require.Equal(t, 5, admitted(8, http.MethodPost, "/login", ""))
	require.Equal(t, http.StatusTooManyRequests, ask(0, http.MethodPost, "/login", ""))

	server.Kill(t)
	until := func(what, path, key string, want ...int) {
		method := http.MethodGet
		if path == "/login" {
			method = http.MethodPost
		}
		redistest.Wait(t, 10*time.Second, what, func() error {
			for i := range apis {
				if got := ask(i, method, path, key); !slices.Contains(want, got) {
					return fmt.Errorf("instance %d answers %d", i, got)
				}
			}
			return nil
		})
	}
	until("the login to close", "/login", "", http.StatusServiceUnavailable)
	require.Equal(t, 150, admitted(150, http.MethodGet, "/", ""), "more than a page's limit")
	until("local limits", "/data", "key_ana", http.StatusOK)
	require.LessOrEqual(t, admitted(40, http.MethodGet, "/data", "key_ana"), 10)
	until("the local limit", "/data", "key_ana", http.StatusTooManyRequests)
	require.Equal(t, http.StatusServiceUnavailable, ask(0, http.MethodPost, "/login", ""), "as long as it is away")

	server.Restart(t)
	until("the login to open", "/login", "", http.StatusOK, http.StatusTooManyRequests)
	require.LessOrEqual(t, admitted(8, http.MethodPost, "/login", ""), 5)
	require.LessOrEqual(t, admitted(150, http.MethodGet, "/", ""), 101)
	require.Equal(t, http.StatusOK, ask(0, http.MethodGet, "/data", "key_eva"))
}
