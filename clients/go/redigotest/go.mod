// The tests with real servers, and the adapters of the page. redigo's sources are Debian's; the stubs have the methods that
// the other adapters need, so these are compiled and not run.
module example.com/redis-rl/clients/go/redigotest

go 1.23

require (
	example.com/redis-rl/clients/go v0.0.0
	github.com/gomodule/redigo v1.8.3
	github.com/redis/go-redis/v9 v9.0.0
	github.com/redis/rueidis v1.0.0
	github.com/valkey-io/valkey-go v1.0.0
)

require github.com/stretchr/testify v1.5.1 // indirect

replace (
	example.com/redis-rl/clients/go => ../
	github.com/gomodule/redigo => /usr/share/gocode/src/github.com/gomodule/redigo
	github.com/redis/go-redis/v9 => ./stubs/go-redis
	github.com/redis/rueidis => ./stubs/rueidis
	github.com/stretchr/testify => ./stubs/testify
	github.com/valkey-io/valkey-go => ./stubs/valkey-go
)
