package stacktest

import (
	"fmt"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/labstack/echo/v4"

	"github.com/tierlimit/tierlimit/core"
)

// Call is one request as a handler or an [Around] sees it. An Around may
// replace Request before it calls next.
type Call struct {
	Writer   http.ResponseWriter
	Request  *http.Request
	SetCost  func(n int)
	SetKey   func(v any) // sets the adapter's CostKey; nil in net/http, which has none
	Decision func() (core.Decision, bool)

	Gin  *gin.Context // nil elsewhere
	Echo echo.Context // nil elsewhere
}

// Text answers with a plain body.
func (c *Call) Text(status int, body string) error {
	c.Writer.Header().Set("Content-Type", "text/plain; charset=utf-8")
	c.Writer.WriteHeader(status)
	// A client that is gone by now is nobody to tell an error to.
	_, _ = io.WriteString(c.Writer, body)
	return nil
}

// StatusError is an error that a handler returns to be answered with a status. In
// Echo it becomes a *echo.HTTPError, which is answered by Echo's error handler.
type StatusError int

func (s StatusError) Error() string { return fmt.Sprintf("status %d", int(s)) }

// answer is what Gin and net/http do with an error, which they have no way to
// return.
func (c *Call) answer(err error) {
	if err == nil {
		return
	}
	status, ok := err.(StatusError) //nolint:errorlint // a test returns it unwrapped
	if !ok {
		status = http.StatusInternalServerError
	}
	_ = c.Text(int(status), http.StatusText(int(status)))
}
