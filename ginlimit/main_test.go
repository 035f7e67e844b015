package ginlimit_test

import (
	"testing"

	"github.com/gin-gonic/gin"
)

// TestMain keeps Gin from printing its routes.
func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	m.Run()
}
