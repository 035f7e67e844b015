package web

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
)

// sink is a ResponseWriter that is used again and again, so that what a
// request costs is what the handlers cost.
type sink struct {
	header http.Header
	status int
}

func (s *sink) Header() http.Header                  { return s.header }
func (s *sink) WriteHeader(status int)               { s.status = status }
func (s *sink) Write(p []byte) (int, error)          { return len(p), nil }
func (s *sink) WriteString(text string) (int, error) { return len(text), nil }

// client sends the same request to a handler, again and again.
type client struct {
	sink

	handler http.Handler
	request *http.Request
}

func newClient(ctx context.Context, h http.Handler) *client {
	return &client{sink: sink{header: http.Header{}}, handler: h, request: newRequest(ctx)}
}

// send returns the status; the header is there until the next call.
func (c *client) send() int {
	clear(c.header)
	c.status = http.StatusOK
	c.handler.ServeHTTP(&c.sink, c.request)
	return c.status
}

// requestContext is what a server makes for a request, layer by layer: whoever
// looks for a value of its own looks through all of them. end ends it.
func requestContext() (ctx context.Context, end func()) {
	server := context.WithValue(context.Background(), http.ServerContextKey, &http.Server{})
	address := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 3000}
	connection, hangUp := context.WithCancel(context.WithValue(server, http.LocalAddrContextKey, address))
	request, done := context.WithCancel(connection)
	return request, func() {
		done()
		hangUp()
	}
}

func newRequest(ctx context.Context) *http.Request {
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/data?page=2", nil)
	r.RemoteAddr = "192.0.2.7:52113"
	for name, value := range map[string]string{
		"Accept":          "application/json",
		"Accept-Encoding": "gzip, deflate, br",
		"User-Agent":      "example/1.0",
		"X-Request-Id":    "0b7a3c52-5f0e-4c57-9d0e-2b0f4a0c9f11",
		keyHeader:         keyOf(7),
	} {
		r.Header.Set(name, value)
	}
	return r
}
