package stacktest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
)

// NetHTTP builds s on a ServeMux.
func NetHTTP(s Service) http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.Routes {
		netRoute(mux, Group{}, r)
	}
	for _, g := range s.Groups {
		for _, r := range g.Routes {
			netRoute(mux, g, r)
		}
	}
	return netLayers(s.Use, mux)
}

func netRoute(mux *http.ServeMux, g Group, r Route) {
	handle := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		call := netCall(w, req)
		call.answer(r.Handle(call))
	})
	mux.Handle(strings.TrimSpace(r.Method+" "+g.Prefix+r.Path), netLayers(g.Use, netLayers(r.Use, handle)))
}

func netLayers(layers []Layer, h http.Handler) http.Handler {
	for _, l := range slices.Backward(layers) {
		switch l := l.(type) {
		case Cost:
			h = httplimit.Cost(int(l))(h)
		case Limit:
			h = netLimit(l)(h)
		case Around:
			next := h
			h = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				call := netCall(w, r)
				call.answer(l(call, func() error {
					next.ServeHTTP(w, call.Request)
					return nil
				}))
			})
		}
	}
	return h
}

func netCall(w http.ResponseWriter, r *http.Request) *Call {
	return &Call{
		Writer:   w,
		Request:  r,
		SetCost:  func(n int) { httplimit.SetCost(r, n) },
		Decision: func() (core.Decision, bool) { return httplimit.Decision(r.Context()) },
	}
}

func netLimit(l Limit) func(http.Handler) http.Handler {
	var opts []httplimit.Option
	if l.Skip != nil {
		opts = append(opts, httplimit.WithSkip(l.Skip))
	}
	if l.Cost != nil {
		opts = append(opts, httplimit.WithCost(l.Cost))
	}
	if l.Fixed != nil {
		opts = append(opts, httplimit.WithFixedCost(*l.Fixed))
	}
	if l.Headers != nil {
		opts = append(opts, httplimit.WithHeaders(l.Headers))
	}
	if l.Refused != nil {
		opts = append(opts, httplimit.WithRefused(func(w http.ResponseWriter, r *http.Request, d core.Decision) {
			call := netCall(w, r)
			call.answer(l.Refused(call, d))
		}))
	}
	if l.Refund != nil {
		opts = append(opts, httplimit.WithRefund(l.Refund))
	}
	if l.Proxies != nil {
		opts = append(opts, httplimit.WithTrustedProxies(l.Proxies...))
	}
	if l.IPv6Prefix != 0 {
		opts = append(opts, httplimit.WithIPv6Prefix(l.IPv6Prefix))
	}
	return httplimit.New(l.Limiter, l.Identify, opts...)
}
