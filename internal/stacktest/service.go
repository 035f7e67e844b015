package stacktest

import (
	"net/http"
	"net/netip"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
)

// Stack is a framework with its adapter.
type Stack struct {
	Name  string
	Build func(Service) http.Handler
}

// Stacks are the three that every scenario runs in.
func Stacks() []Stack {
	return []Stack{{"gin", Gin}, {"echo", Echo}, {"nethttp", NetHTTP}}
}

// Service describes an API. Layers run in the order in which they stand.
type Service struct {
	Use    []Layer // for every request, unknown paths too
	Groups []Group
	Routes []Route
}

// Group is some routes below a prefix.
type Group struct {
	Prefix string
	Use    []Layer
	Routes []Route
}

// Route is one handler. An empty Method is every method.
type Route struct {
	Method string
	Path   string
	Use    []Layer
	Handle func(c *Call) error
}

// Layer is a middleware: a [Limit], a [Cost] or an [Around].
type Layer interface{ layer() }

// Limit installs the adapter's New. A field of zero leaves its option out.
type Limit struct {
	Limiter    *core.Limiter
	Identify   func(r *http.Request) (core.Identity, error)
	Skip       func(r *http.Request) bool
	Cost       func(r *http.Request) int
	Fixed      *int
	Headers    httplimit.HeaderFunc
	Refused    func(c *Call, d core.Decision) error
	Refund     func(status int) bool
	Proxies    []netip.Prefix
	IPv6Prefix int
}

// Cost installs the adapter's Cost.
type Cost int

// Around is any other middleware. One that does not call next ends the request.
type Around func(c *Call, next func() error) error

func (Limit) layer()  {}
func (Cost) layer()   {}
func (Around) layer() {}
