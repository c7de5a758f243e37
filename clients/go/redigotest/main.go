package main

import (
	"context"
	"io"
	"log"
	"net/http"
	"strings"
	"time"

	redisrl "example.com/redis-rl/clients/go"
	"github.com/gomodule/redigo/redis"
)

var api = redisrl.Token(time.Minute, 100).As("api")

type redigo struct{ *redis.Pool }

func (r redigo) Do(ctx context.Context, args ...any) (any, error) {
	conn, err := r.GetContext(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	end, _ := ctx.Deadline()
	reply, err := redis.DoWithTimeout(conn, max(time.Until(end), 1), args[0].(string), args[1:]...)
	if err != nil && strings.HasPrefix(err.Error(), "READONLY") {
		redis.DoWithTimeout(conn, 1, "PING") // too late at once: the pool closes the connection to a replica
	}
	return reply, err
}

func main() {
	pool := &redis.Pool{MaxIdle: 50, DialContext: func(ctx context.Context) (redis.Conn, error) {
		return redis.DialContext(ctx, "tcp", "localhost:6379")
	}}
	limiter := &redisrl.Limiter{Doer: redigo{pool}, Prefix: "app:"}
	limit := limiter.Middleware(redisrl.Limit{Policy: api, Key: redisrl.RemoteAddress})
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello\n") })
	log.Fatal(http.ListenAndServe(":3000", limit(http.DefaultServeMux)))
}
