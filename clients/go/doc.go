// Package redisrl limits rates with redis-rl, a module of Redis and Valkey: every process shares one count, and the server
// decides in one atomic step. On a server without the module, Lua scripts of this package decide.
//
//	limiter := &redisrl.Limiter{Doer: client} // the page has Doers for redigo, go-redis, rueidis and valkey-go
//	decision, err := limiter.Allow(ctx, redisrl.MustPolicy("TOKEN 1m 60"), "user:42")
//	if err == nil && !decision.Allowed {
//		// come back after decision.RetryAfter
//	}
//
// An error never means that a request is allowed: see [Limiter.Unavailable]. The limiter sends nothing twice, and nothing
// to a server that does not reply.
package redisrl
