// The example of the page, and the tests with real servers. redigo's sources are Debian's.
module example.com/redis-rl/clients/go/redigotest

go 1.23

require (
	example.com/redis-rl/clients/go v0.0.0
	github.com/gomodule/redigo v1.8.3
)

require github.com/stretchr/testify v1.5.1 // indirect

replace (
	example.com/redis-rl/clients/go => ../
	github.com/gomodule/redigo => /usr/share/gocode/src/github.com/gomodule/redigo
	github.com/stretchr/testify => ./stubs/testify
)
