module github.com/tierlimit/tierlimit

go 1.26.0

require github.com/stretchr/testify v1.12.1

require (
	github.com/puzpuzpuz/xsync/v4 v4.5.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)
