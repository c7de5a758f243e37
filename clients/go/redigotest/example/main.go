package main

import (
	"context"
	"io"
	"log"
	"net/http"
	"time"

	redisrl "example.com/redis-rl/clients/go"
	"example.com/redis-rl/clients/go/redigotest/adapter"
	"github.com/gomodule/redigo/redis"
)

var api = redisrl.Token(time.Minute, 60).Burst(10).As("api")

func main() {
	pool := &redis.Pool{
		MaxIdle: 50,
		DialContext: func(ctx context.Context) (redis.Conn, error) {
			return redis.DialContext(ctx, "tcp", "localhost:6379")
		},
	}
	limiter := &redisrl.Limiter{Doer: adapter.NewRedigo(pool), Prefix: "api:"}
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello\n") })
	limit := limiter.Middleware(api, redisrl.RemoteAddress)
	log.Fatal(http.ListenAndServe(":3000", limit(http.DefaultServeMux)))
}
