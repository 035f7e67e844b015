// Package stacktest builds one service in Gin, Echo and net/http from one
// description, so that a scenario is written once and proves that the three
// adapters are the same text with another context type:
//
//	service := stacktest.Service{
//		Use: []stacktest.Layer{stacktest.Limit{Limiter: limiter, Identify: identify}},
//		Routes: []stacktest.Route{{
//			Path:   "/report",
//			Use:    []stacktest.Layer{stacktest.Cost(5)},
//			Handle: func(c *stacktest.Call) error { return c.Text(http.StatusOK, "report") },
//		}},
//	}
//	for _, stack := range stacktest.Stacks() {
//		handler := stack.Build(service)
//		...
//	}
//
// It knows only what the three have in common. A scenario about what one of
// them has alone, such as Gin's HandleContext, reaches it through [Call].
package stacktest
