package redisstore

import (
	_ "embed"

	"github.com/redis/rueidis"
)

var (
	//go:embed gcra.lua
	gcraSource string
	//go:embed gcra2.lua
	gcra2Source string
	//go:embed gcrabatch.lua
	gcraBatchSource string
	//go:embed gcrafix.lua
	gcraFixSource string
	//go:embed windows.lua
	windowsHead string
	//go:embed windows_gcra.lua
	windowsGCRA string
	//go:embed windows_fixed.lua
	windowsFixed string
	//go:embed windows_log.lua
	windowsLog string
	//go:embed windows_request.lua
	windowsRequest string
)

// scripts are called by EVALSHA and loaded by EVAL where Redis does not know
// them; they are never repeated otherwise, because what was lost on the way
// back has been charged.
var (
	gcraScript      = rueidis.NewLuaScript(gcraSource)
	gcra2Script     = rueidis.NewLuaScript(gcra2Source)
	gcraBatchScript = rueidis.NewLuaScript(gcraBatchSource)
	gcraFixScript   = rueidis.NewLuaScript(gcraFixSource)
	windowsScript   = rueidis.NewLuaScript(windowsHead + windowsGCRA + windowsFixed + windowsLog + windowsRequest)
)
