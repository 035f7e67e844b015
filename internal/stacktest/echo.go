package stacktest

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/echolimit"
)

// Echo builds s with Use, groups and route middleware.
func Echo(s Service) http.Handler {
	e := echo.New()
	e.Use(echoLayers(s.Use)...)
	for _, r := range s.Routes {
		echoRoute(e, r)
	}
	for _, g := range s.Groups {
		group := e.Group(g.Prefix, echoLayers(g.Use)...)
		for _, r := range g.Routes {
			echoRoute(group, r)
		}
	}
	return e
}

// echoRouter is what a server and a group have in common.
type echoRouter interface {
	Add(method, path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) *echo.Route
	Any(path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) []*echo.Route
}

func echoRoute(router echoRouter, r Route) {
	handle := func(c echo.Context) error { return echoError(r.Handle(echoCall(c))) }
	if r.Method == "" {
		router.Any(r.Path, handle, echoLayers(r.Use)...)
		return
	}
	router.Add(r.Method, r.Path, handle, echoLayers(r.Use)...)
}

// echoError is err as Echo expects it.
func echoError(err error) error {
	if status, ok := errors.AsType[StatusError](err); ok {
		return echo.NewHTTPError(int(status)) //nolint:wrapcheck // as an Echo handler returns it
	}
	return err
}

func echoLayers(layers []Layer) []echo.MiddlewareFunc {
	var chain []echo.MiddlewareFunc
	for _, l := range layers {
		switch l := l.(type) {
		case Cost:
			chain = append(chain, echolimit.Cost(int(l)))
		case Limit:
			chain = append(chain, echoLimit(l))
		case Around:
			chain = append(chain, func(next echo.HandlerFunc) echo.HandlerFunc {
				return func(c echo.Context) error { return echoAround(c, l, next) }
			})
		}
	}
	return chain
}

func echoAround(c echo.Context, around Around, next echo.HandlerFunc) error {
	call := echoCall(c)
	before := call.Request
	return echoError(around(call, func() error {
		if call.Request != before {
			c.SetRequest(call.Request)
		}
		return next(c)
	}))
}

func echoCall(c echo.Context) *Call {
	return &Call{
		Writer:   c.Response(),
		Request:  c.Request(),
		SetCost:  func(n int) { echolimit.SetCost(c, n) },
		SetKey:   func(v any) { c.Set(echolimit.CostKey, v) },
		Decision: func() (core.Decision, bool) { return echolimit.Decision(c) },
		Echo:     c,
	}
}

func echoLimit(l Limit) echo.MiddlewareFunc {
	var opts []echolimit.Option
	if l.Skip != nil {
		opts = append(opts, echolimit.WithSkip(func(c echo.Context) bool { return l.Skip(c.Request()) }))
	}
	if l.Cost != nil {
		opts = append(opts, echolimit.WithCost(func(c echo.Context) int { return l.Cost(c.Request()) }))
	}
	if l.Fixed != nil {
		opts = append(opts, echolimit.WithFixedCost(*l.Fixed))
	}
	if l.Headers != nil {
		opts = append(opts, echolimit.WithHeaders(l.Headers))
	}
	if l.Refused != nil {
		opts = append(opts, echolimit.WithRefused(func(c echo.Context, d core.Decision) error {
			return echoError(l.Refused(echoCall(c), d))
		}))
	}
	if l.Refund != nil {
		opts = append(opts, echolimit.WithRefund(l.Refund))
	}
	if l.Proxies != nil {
		opts = append(opts, echolimit.WithTrustedProxies(l.Proxies...))
	}
	if l.IPv6Prefix != 0 {
		opts = append(opts, echolimit.WithIPv6Prefix(l.IPv6Prefix))
	}
	return echolimit.New(l.Limiter, func(c echo.Context) (core.Identity, error) { return l.Identify(c.Request()) }, opts...)
}
