package record

import (
	"net/http"
	"strings"

	"github.com/tierlimit/tierlimit/core"
)

// Preflight tells whether r only asks for permission to ask: a CORS preflight
// carries no credentials, so it would be charged to nobody, and a refused one
// looks like a network error to a browser.
func Preflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" && r.Header.Get("Origin") != ""
}

// Nobody tells whether id names no one to charge. A key of white space alone is
// a header that was sent empty.
func Nobody(id core.Identity) bool { return strings.TrimSpace(id.Key) == "" }
