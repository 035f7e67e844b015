package readme

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/labstack/echo/v4"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
)

// Account is a customer of the README's service.
type Account struct{ ID, Plan string }

// Claims are what its authentication leaves behind.
type Claims struct{ Subject, Plan string }

var accounts = map[string]Account{"key_ana": {ID: "ana", Plan: "free"}}

func planOf(string) string { return "free" }

func identify(c *gin.Context) (core.Identity, error) {
	account, ok := accounts[c.GetHeader("X-Api-Key")]
	if !ok {
		return core.Identity{}, nil // nobody: core.OnMissing decides
	}
	return core.Identity{Key: account.ID, Tier: account.Plan}, nil
}

func identifyByClaim(c *gin.Context) (core.Identity, error) {
	value, _ := c.Get("claims")
	claims, ok := value.(Claims)
	if !ok {
		return core.Identity{}, errors.New("no claims on a route behind authentication") // 503, nothing charged
	}
	return core.Identity{Key: claims.Subject, Tier: claims.Plan}, nil
}

func identifyByBody(r *http.Request) (core.Identity, error) {
	body, err := httplimit.PeekBody(r, 64<<10)
	if err != nil {
		return core.Identity{}, err
	}
	var request struct {
		Account string `json:"account"`
	}
	if json.Unmarshal(body, &request) != nil {
		return core.Identity{}, nil
	}
	return core.Identity{Key: request.Account, Tier: planOf(request.Account)}, nil
}

func identifyHTTP(r *http.Request) (core.Identity, error) { return identifyByBody(r) }

func identifyEcho(c echo.Context) (core.Identity, error) { return identifyByBody(c.Request()) }
