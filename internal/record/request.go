package record

import (
	"net/http"
	"strings"
	"unicode/utf8"

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
func Nobody(id core.Identity) bool {
	if k := id.Key; k != "" && ' ' < k[0] && k[0] < utf8.RuneSelf {
		return false // as nearly all begin
	}
	return strings.TrimSpace(id.Key) == ""
}
