package main

import (
	"testing"

	"github.com/tierlimit/tierlimit/internal/exampletest"
)

func TestMain(m *testing.M) { exampletest.Main(m, main) }

func TestSharedThroughRedis(t *testing.T) { exampletest.Redis(t) }
