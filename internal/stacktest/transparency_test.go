package stacktest_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
	"github.com/tierlimit/tierlimit/internal/stacktest"
)

// guarded is a route behind a limiter, with and without WithRefund, which
// wraps net/http's writer.
func guarded(t *testing.T, handle func(w *world, c *stacktest.Call) error, scenario func(t *testing.T, w *world, srv *httptest.Server)) {
	t.Helper()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		for _, refund := range []func(int) bool{nil, failed} {
			w := newWorld(t)
			l := limitAs(w.limiter, ana)
			l.Refund = refund
			// Twice, so that a wrapper would wrap a wrapper.
			again := limitAs(w.limiter, bea)
			again.Refund = refund
			srv := httptest.NewServer(s.Build(stacktest.Service{Use: layers(l, again), Routes: routes(
				route("/x", func(c *stacktest.Call) error { return handle(w, c) }, stacktest.Cost(2)),
			)}))
			scenario(t, w, srv)
			srv.Close()
		}
	})
}

// Events reach the client while the handler is still at work.
func TestStreaming(t *testing.T) {
	t.Parallel()
	guarded(t, func(w *world, c *stacktest.Call) error {
		flusher, flushes := c.Writer.(http.Flusher)
		if !flushes {
			return stacktest.StatusError(501)
		}
		c.Writer.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			fmt.Fprintf(c.Writer, "data: %d\n\n", i)
			flusher.Flush()
			select {
			case <-w.read:
			case <-c.Request.Context().Done():
				return stacktest.StatusError(504)
			}
		}
		c.SetCost(5)
		return nil
	}, func(t *testing.T, w *world, srv *httptest.Server) {
		t.Helper()
		res := fetch(t, srv)
		defer res.Body.Close()
		require.Equal(t, "8", res.Header.Get("X-RateLimit-Remaining"))
		lines := bufio.NewReader(res.Body)
		for i := range 3 {
			line, err := lines.ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, fmt.Sprintf("data: %d\n", i), line)
			_, err = lines.ReadString('\n')
			require.NoError(t, err)
			w.read <- struct{}{}
		}
		_, err := io.ReadAll(lines)
		require.NoError(t, err)
		require.Eventually(t, func() bool { return w.left(ana) == 5 && w.left(bea) == 95 }, 5*time.Second, time.Millisecond)
	})
}

func fetch(t *testing.T, srv *httptest.Server) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/x", http.NoBody)
	require.NoError(t, err)
	res, err := srv.Client().Do(r)
	require.NoError(t, err)
	return res
}

func TestUpgrade(t *testing.T) {
	t.Parallel()
	guarded(t, func(_ *world, c *stacktest.Call) error {
		hijacker, hijacks := c.Writer.(http.Hijacker)
		if !hijacks {
			return stacktest.StatusError(501)
		}
		conn, rw, err := hijacker.Hijack()
		if err != nil {
			return err
		}
		defer conn.Close()
		fmt.Fprint(rw, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n")
		if err := rw.Flush(); err != nil {
			return nil
		}
		line, _ := rw.ReadString('\n')
		fmt.Fprint(rw, line)
		_ = rw.Flush()
		return nil
	}, func(t *testing.T, w *world, srv *httptest.Server) {
		t.Helper()
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", srv.Listener.Addr().String())
		require.NoError(t, err)
		defer conn.Close()
		fmt.Fprint(conn, "GET /x HTTP/1.1\r\nHost: x\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n")
		in := bufio.NewReader(conn)
		res, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		defer res.Body.Close()
		require.Equal(t, 101, res.StatusCode)
		fmt.Fprint(conn, "hello\n")
		line, err := in.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "hello\n", line)
		require.Equal(t, 8, w.left(ana))
	})
}

func TestResponseController(t *testing.T) {
	t.Parallel()
	guarded(t, func(_ *world, c *stacktest.Call) error {
		control := http.NewResponseController(c.Writer)
		for _, err := range []error{
			control.SetWriteDeadline(time.Now().Add(time.Minute)),
			control.SetReadDeadline(time.Now().Add(time.Minute)),
			control.EnableFullDuplex(),
			control.Flush(),
		} {
			if err != nil {
				return err
			}
		}
		return c.Text(200, "fine")
	}, func(t *testing.T, _ *world, srv *httptest.Server) {
		t.Helper()
		res := fetch(t, srv)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Equal(t, "fine", string(body))
	})
}

// io.Copy into the writer works, whether or not it is a ReaderFrom.
func TestCopyIntoTheWriter(t *testing.T) {
	t.Parallel()
	guarded(t, func(_ *world, c *stacktest.Call) error {
		pr, pw := io.Pipe()
		go func() {
			for range 100 {
				fmt.Fprint(pw, "0123456789")
			}
			pw.Close()
		}()
		_, err := io.Copy(c.Writer, pr)
		if err != nil {
			panic(err)
		}
		return nil
	}, func(t *testing.T, _ *world, srv *httptest.Server) {
		t.Helper()
		res := fetch(t, srv)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Len(t, body, 1000)
	})
}

// Only WithRefund puts something around net/http's writer.
func TestTheWriterIsWrappedOnlyForRefund(t *testing.T) {
	t.Parallel()
	for refunding, refund := range map[bool]func(int) bool{false: nil, true: failed} {
		w := newWorld(t)
		l := limit(w.limiter)
		l.Refund = refund
		var seen http.ResponseWriter
		h := stacktest.NetHTTP(stacktest.Service{Use: layers(l, limit(w.limiter)), Routes: routes(route("/x", func(c *stacktest.Call) error {
			seen = c.Writer
			return nil
		}, stacktest.Cost(2)))})
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/x", http.NoBody))
		if !refunding {
			require.Same(t, rec, seen)
			continue
		}
		require.NotEqual(t, http.ResponseWriter(rec), seen)
		unwrapper, unwraps := seen.(interface{ Unwrap() http.ResponseWriter })
		require.True(t, unwraps)
		require.Same(t, rec, unwrapper.Unwrap())
	}
}

// 1xx is no answer yet: the 502 that follows is what counts. Gin and Echo keep
// the first WriteHeader themselves, so this is net/http's alone.
func TestInformationalAnswersAreNoStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := limitAs(w.limiter, ana)
	l.Refund = failed
	srv := httptest.NewServer(stacktest.NetHTTP(stacktest.Service{Use: layers(l), Routes: routes(route("/x", func(c *stacktest.Call) error {
		c.Writer.WriteHeader(http.StatusEarlyHints)
		return c.Text(502, "x")
	}))}))
	defer srv.Close()
	res := fetch(t, srv)
	defer res.Body.Close()
	require.Equal(t, 502, res.StatusCode)
	require.Equal(t, 10, w.left(ana))
}

// Handlers and later middlewares read the decision, after each change of it.
func TestDecisionIsReadableInHandlers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s stacktest.Stack) {
		t.Helper()
		w := newWorld(t)
		var seen []string
		look := func(c *stacktest.Call) {
			d, known := c.Decision()
			direct, also := httplimit.Decision(c.Request.Context())
			require.Equal(t, known, also)
			require.Equal(t, d, direct)
			seen = append(seen, fmt.Sprintf("%v %s %d %d", known, d.Tier, d.Cost, d.Level.Remaining))
		}
		var after core.Decision
		outside := stacktest.Around(func(c *stacktest.Call, next func() error) error {
			look(c)
			err := next()
			if c.Gin != nil {
				c.Request = c.Gin.Request
			}
			if c.Echo != nil {
				c.Request = c.Echo.Request()
			}
			after, _ = c.Decision()
			return err
		})
		h := s.Build(stacktest.Service{Use: layers(outside, limitAs(w.limiter, bea), before(look), limitAs(w.limiter, ana), before(look)), Routes: routes(
			route("/x", func(c *stacktest.Call) error { look(c); c.SetCost(5); look(c); return ok(c) }, stacktest.Cost(3)),
		)})
		require.Equal(t, 200, get(h, "/x").Status)
		require.Equal(t, []string{"false  0 0", "true pro 1 99", "true free 1 9", "true free 3 7", "true free 3 7"}, seen)
		if s.Name != "nethttp" { // where what stands outside has another *http.Request
			require.Equal(t, 5, after.Cost)
		}
	})
}
