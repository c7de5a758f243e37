package redisrl

import (
	"testing"
	"time"
)

func BenchmarkAllow(b *testing.B) {
	limiter, _ := over(func(int64) (any, error) { return allowed, nil })
	limiter.Prefix = "app:"
	policy := Token(time.Minute, 60).Burst(10).As("api")
	b.ReportAllocs()
	for range b.N {
		_, _ = limiter.Allow(ctx, policy, "user:42")
	}
}
