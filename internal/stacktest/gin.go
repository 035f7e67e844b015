package stacktest

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/ginlimit"
)

func init() { gin.SetMode(gin.ReleaseMode) } //nolint:gochecknoinits // a global of Gin's that must not change while requests run

// Gin builds s on an engine that tells a wrong method from an unknown path.
func Gin(s Service) http.Handler {
	e := gin.New()
	e.HandleMethodNotAllowed = true
	e.Use(ginLayers(s.Use)...)
	ginRoutes(&e.RouterGroup, s.Routes)
	for _, g := range s.Groups {
		ginRoutes(e.Group(g.Prefix, ginLayers(g.Use)...), g.Routes)
	}
	return e
}

func ginRoutes(g *gin.RouterGroup, routes []Route) {
	for _, r := range routes {
		chain := append(ginLayers(r.Use), func(c *gin.Context) {
			call := ginCall(c)
			call.answer(r.Handle(call))
		})
		if r.Method == "" {
			g.Any(r.Path, chain...)
			continue
		}
		g.Handle(r.Method, r.Path, chain...)
	}
}

func ginLayers(layers []Layer) []gin.HandlerFunc {
	var chain []gin.HandlerFunc
	for _, l := range layers {
		switch l := l.(type) {
		case Cost:
			chain = append(chain, ginlimit.Cost(int(l)))
		case Limit:
			chain = append(chain, ginLimit(l))
		case Around:
			chain = append(chain, func(c *gin.Context) { ginAround(c, l) })
		}
	}
	return chain
}

func ginAround(c *gin.Context, around Around) {
	call := ginCall(c)
	before, passed := call.Request, false
	err := around(call, func() error {
		passed = true
		if call.Request != before {
			c.Request = call.Request
		}
		c.Next()
		return nil
	})
	call.answer(err)
	if !passed {
		c.Abort()
	}
}

func ginCall(c *gin.Context) *Call {
	return &Call{
		Writer:   c.Writer,
		Request:  c.Request,
		SetCost:  func(n int) { ginlimit.SetCost(c, n) },
		SetKey:   func(v any) { c.Set(ginlimit.CostKey, v) },
		Decision: func() (core.Decision, bool) { return ginlimit.Decision(c) },
		Gin:      c,
	}
}

func ginLimit(l Limit) gin.HandlerFunc {
	var opts []ginlimit.Option
	if l.Skip != nil {
		opts = append(opts, ginlimit.WithSkip(func(c *gin.Context) bool { return l.Skip(c.Request) }))
	}
	if l.Cost != nil {
		opts = append(opts, ginlimit.WithCost(func(c *gin.Context) int { return l.Cost(c.Request) }))
	}
	if l.Fixed != nil {
		opts = append(opts, ginlimit.WithFixedCost(*l.Fixed))
	}
	if l.Headers != nil {
		opts = append(opts, ginlimit.WithHeaders(l.Headers))
	}
	if l.Refused != nil {
		opts = append(opts, ginlimit.WithRefused(func(c *gin.Context, d core.Decision) {
			call := ginCall(c)
			call.answer(l.Refused(call, d))
		}))
	}
	if l.Refund != nil {
		opts = append(opts, ginlimit.WithRefund(l.Refund))
	}
	if l.Proxies != nil {
		opts = append(opts, ginlimit.WithTrustedProxies(l.Proxies...))
	}
	if l.IPv6Prefix != 0 {
		opts = append(opts, ginlimit.WithIPv6Prefix(l.IPv6Prefix))
	}
	return ginlimit.New(l.Limiter, func(c *gin.Context) (core.Identity, error) { return l.Identify(c.Request) }, opts...)
}
