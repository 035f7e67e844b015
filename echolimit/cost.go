package echolimit

import (
	"fmt"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/tierlimit/tierlimit/httplimit"
	"github.com/tierlimit/tierlimit/internal/record"
)

// CostKey is the key of the request's price in the Echo context, behind Cost
// and SetCost; c.Set(echolimit.CostKey, 5) does the same as SetCost(c, 5).
// What is set before the check must be an int of at least 0, or the request is
// refused with 500; what is set later and is none is logged and ignored.
const CostKey = "github.com/tierlimit/tierlimit/echolimit.cost"

// Cost prices a route or group at n units, 0 or more. It stands on either side
// of the limiter: before it, n is the price; after it, the request is raised
// to n units in all before the handler runs, or refused, and then what it has
// paid is given back. With several, the one that runs last counts. A Cost that
// no limiter heeds is logged at Error, once. It panics when n is below 0.
//
// WithCost is one store call where Cost behind the limiter is two, and its
// Retry-After counts the whole price.
func Cost(n int) echo.MiddlewareFunc {
	if n < 0 {
		panic(fmt.Sprintf("echolimit: Cost(%d), must be at least 0", n)) //nolint:forbidigo // wiring fault, at start-up
	}
	var once sync.Once
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			outer := c.Request()
			rec, fresh := enter(c)
			if fresh {
				defer leave(c, outer)
			}
			SetCost(c, n)
			if rec.Heeds() {
				return raise(c, rec, n, next)
			}
			err := serve(c, rec, next)
			if !rec.Heeds() {
				once.Do(func() { record.ReportUnmet(rec, "echolimit", n) })
			}
			return err
		}
	}
}

// raise charges the rest of n, or refuses with the options of the limiter
// whose decision refuses.
func raise(c echo.Context, rec *record.Record, n int, next echo.HandlerFunc) error {
	refusal := rec.Raise(n, c.Response().Header())
	if refusal == nil {
		return next(c)
	}
	if m, ok := refusal.Options.(*middleware); ok {
		return m.refuse(c, &refusal.Decision)
	}
	httplimit.Refuse(c.Response(), c.Request(), refusal.Decision)
	return nil
}

// SetCost says that the request costs n units in all, for what only the
// handler knows, such as the tokens a model has used. Before the check it is
// the price; later it is settled when the handlers are done, also after a
// panic or when the client has gone: charged as far as it fits, or given back.
// The last call counts. An n below 0 is refused, or logged and ignored.
func SetCost(c echo.Context, n int) {
	c.Set(CostKey, n)
	c.Set(notedKey, n)
	rec, fresh := record.In(c.Request().Context())
	if fresh {
		// In place: nobody is there to leave a copy.
		*c.Request() = *c.Request().WithContext(rec)
	}
	if n >= 0 {
		rec.SetPrice(n)
	}
}

// notedKey holds the value of CostKey that the record knows already, so that a
// later SetCost through another context is not taken back.
const notedKey = CostKey + ".noted"

// priceSet is the price that the context key holds, or that was set before
// this context was there; below 0 when it is no price.
func priceSet(c echo.Context, rec *record.Record) (n int, ok bool) {
	v := c.Get(CostKey)
	if v == nil {
		return rec.Price()
	}
	n, isInt := v.(int)
	if !isInt || n < 0 {
		return -1, true
	}
	if rec == nil {
		return n, true // it is noted once there is one
	}
	if c.Get(notedKey) == v {
		return rec.Price()
	}
	c.Set(notedKey, n)
	rec.SetPrice(n)
	return n, true
}
