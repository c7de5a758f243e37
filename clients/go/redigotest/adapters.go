// Package redigotest has the adapters of the page for clients that Debian does not have. They are compiled, not run.
package redigotest

import (
	"context"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/valkey-io/valkey-go"
)

type goRedis struct{ *redis.Client } // redis.NewClient(&redis.Options{Addr: "…", MaxRetries: -1})

func (c goRedis) Do(ctx context.Context, args ...any) (any, error) {
	return c.Client.Do(ctx, args...).Result()
}

type rueidisClient struct{ rueidis.Client } // rueidis.ClientOption{InitAddress: …, DisableRetry: true}

func (c rueidisClient) Do(ctx context.Context, args ...any) (any, error) {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = arg.(string)
	}
	return c.Client.Do(ctx, c.B().Arbitrary(words...).Build()).ToAny()
}

type valkeyClient struct{ valkey.Client } // valkey.ClientOption{InitAddress: …, DisableRetry: true}

func (c valkeyClient) Do(ctx context.Context, args ...any) (any, error) {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = arg.(string)
	}
	return c.Client.Do(ctx, c.B().Arbitrary(words...).Build()).ToAny()
}

var (
	_ = redis.NewClient(&redis.Options{Addr: "localhost:6379", MaxRetries: -1})
	_ = rueidis.ClientOption{InitAddress: []string{"localhost:6379"}, DisableRetry: true}
	_ = valkey.ClientOption{InitAddress: []string{"localhost:6379"}, DisableRetry: true}
	_ = []any{goRedis{}, rueidisClient{}, valkeyClient{}}
)
