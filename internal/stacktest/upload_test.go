package stacktest_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
	"github.com/tierlimit/tierlimit/internal/stacktest"
)

// The server removes the files of an upload from the request that it knows,
// which is not the one that the handlers behind a limiter get.
func TestUploadsLeaveNoFiles(t *testing.T) { //nolint:paralleltest // TMPDIR is the process's
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	upload := func(c *stacktest.Call) error {
		if err := c.Request.ParseMultipartForm(10); err != nil {
			return err
		}
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, files, 1, "the handler has its file")
		return ok(c)
	}
	for _, s := range stacktest.Stacks() {
		w := newWorld(t)
		skipping := limit(w.limiter)
		skipping.Skip = func(*http.Request) bool { return true }
		for name, service := range map[string]stacktest.Service{
			"skipped":               {Use: layers(skipping)},
			"limited":               {Use: layers(limit(w.limiter))},
			"a cost, then limited":  {Use: layers(stacktest.Cost(1), limit(w.limiter))},
			"limited, then a cost":  {Use: layers(limit(w.limiter), stacktest.Cost(2))},
			"limited and no more":   {Use: layers(limit(w.limiter), limit(w.limiter))},
			"a cost and no limiter": {Use: layers(stacktest.Cost(1))},
		} {
			service.Routes = routes(route("/x", upload))
			server := httptest.NewServer(s.Build(service))
			var body bytes.Buffer
			form := multipart.NewWriter(&body)
			part, err := form.CreateFormFile("file", "large.txt")
			require.NoError(t, err)
			_, err = part.Write([]byte(strings.Repeat("x", 1<<16)))
			require.NoError(t, err)
			require.NoError(t, form.Close())
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/x", &body)
			require.NoError(t, err)
			r.Header.Set("Content-Type", form.FormDataContentType())
			r.Header.Set("X-Api-Key", "key_ana")
			answer, err := server.Client().Do(r)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
			require.Equal(t, 200, answer.StatusCode, "%s: %s", s.Name, name)
			server.Close() // waits for the server to be done with the request
			files, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, files, "%s: %s", s.Name, name)
			require.NoError(t, w.limiter.Reset(t.Context(), ana))
		}
	}
}

func TestOuterMiddlewareSeesThePatternOfTheMux(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /a/{id}", func(http.ResponseWriter, *http.Request) {})
	limited := httplimit.New(w.limiter, func(*http.Request) (core.Identity, error) { return ana, nil })(mux)
	r := httptest.NewRequest(http.MethodGet, "/a/1", nil)
	limited.ServeHTTP(httptest.NewRecorder(), r)
	require.Equal(t, "GET /a/{id}", r.Pattern)
}

// Two limiters side by side behind one Cost: both are settled, since the Cost
// is around both.
func TestSiblingsBehindACostAreBothSettled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other, err := w.limiter.With(core.WithScope("other"))
	require.NoError(t, err)
	identify := func(*http.Request) (core.Identity, error) { return ana, nil }
	a := httplimit.New(w.limiter, identify)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { httplimit.SetCost(r, 5) }))
	b := httplimit.New(other, identify)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { httplimit.SetCost(r, 7) }))
	both := httplimit.Cost(1)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.ServeHTTP(w, r)
		b.ServeHTTP(w, r)
	}))
	both.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	require.Equal(t, 3, w.left(ana), "the last price counts, for both")
	require.Equal(t, 3, other.Peek(t.Context(), ana, 1).Level.Remaining)
}
