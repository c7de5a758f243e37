package redigotest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	redisrl "example.com/redis-rl/clients/go"
	"example.com/redis-rl/clients/go/redigotest/adapter"
	"github.com/gomodule/redigo/redis"
)

var ctx = context.Background()

func client(t testing.TB) (*redisrl.Limiter, redisrl.Doer) {
	port := os.Getenv("RL_PORT")
	if port == "" {
		t.Skip("RL_PORT is not set: run clients/server.py go test")
	}
	doer := adapter.NewRedigo(&redis.Pool{MaxIdle: 10, DialContext: func(ctx context.Context) (redis.Conn, error) {
		return redis.DialContext(ctx, "tcp", "127.0.0.1:"+port)
	}})
	if _, err := doer.Do(ctx, "FLUSHALL"); err != nil {
		t.Fatal(err)
	}
	return &redisrl.Limiter{Doer: doer, Timeout: 10 * time.Second}, doer
}

// What a command replies with HEADERS is what the decision writes.
func TestEveryAlgorithm(t *testing.T) {
	limiter, doer := client(t)
	for _, text := range []string{
		"FIXED 1h 5", "FIXED month 5 ANCHOR 2682000 AS quota", "WINDOW 1h 5", "SLIDING 1h 5", "COUNTER 1h 5", "TOKEN 1h 5 BURST 3",
		"LEAKY 1h 5", "GCRA 500ms 5 AS fast", "ROLLING 1h 5", "TOKEN 1h 0 SHADOW",
	} {
		policy, err := redisrl.ParsePolicy(text)
		if err != nil {
			t.Fatal(err)
		}
		key, denied := "{k}"+text, false
		for n := 0; n < 20 && !denied; n++ {
			decision, err := limiter.Allow(ctx, policy, key)
			if err != nil {
				t.Fatal(text, err)
			}
			denied = !decision.Allowed
			shown, err := limiter.Peek(ctx, policy.Request(key))
			if err != nil {
				t.Fatal(text, err)
			}
			header := http.Header{}
			shown.WriteHeaders(header)
			words := strings.Fields("RL.PEEK " + strings.Split(text, " ")[0])
			args := make([]any, 0, 12)
			for _, word := range append(append(words, key), append(strings.Fields(text)[1:], "HEADERS")...) {
				args = append(args, word)
			}
			reply, err := doer.Do(ctx, args...)
			if err != nil {
				t.Fatal(text, err)
			}
			pairs, _ := redis.Strings(reply.([]any)[3], nil)
			for i := 0; i < len(pairs); i += 2 {
				// The reply may be of another second.
				if found := header.Get(pairs[i]); found != pairs[i+1] && len(found) != len(pairs[i+1]) {
					t.Errorf("%s: %s: %s, not %s", text, pairs[i], found, pairs[i+1])
				}
			}
			if len(header) != len(pairs)/2 {
				t.Errorf("%s: %v, not %v", text, header, pairs)
			}
		}
		if denied == policy.IsShadow() {
			t.Errorf("%s: denied %v", text, denied)
		}
	}
}

func TestEveryCall(t *testing.T) {
	limiter, _ := client(t)
	limiter.Prefix = "app:"
	policy := redisrl.Rolling(time.Hour, 10)
	step := func(what string, remaining int64, decision redisrl.Decision, err error) {
		t.Helper()
		if err != nil || decision.Remaining != remaining {
			t.Fatalf("%s: %+v, %v", what, decision, err)
		}
	}
	decision, err := limiter.AllowN(ctx, policy, "k", 7)
	step("AllowN", 3, decision, err)
	request := policy.Request("k").Cost(7).At(decision.NowMS)
	decision, err = limiter.Settle(ctx, request, 4)
	step("Settle", 5, decision, err)
	decision, err = limiter.Refund(ctx, request.Cost(2))
	step("Refund", 6, decision, err)
	decision, err = limiter.Peek(ctx, policy.Request("k").Cost(0))
	step("Peek", 8, decision, err)
	decision, err = limiter.AllowAtMost(ctx, policy, "k", 100)
	if step("AllowAtMost", 0, decision, err); decision.Charged != 8 {
		t.Fatalf("%+v", decision)
	}
	if found, err := limiter.Reset(ctx, policy, "k"); err != nil || !found {
		t.Fatal(found, err)
	}
	all, err := limiter.Multi(ctx, policy.Request("{u}a").Cost(3), redisrl.Token(time.Hour, 2).Request("{u}b"))
	if err != nil || !all.Allowed || all.Limits[0].Remaining != 7 || all.Limits[1].Remaining != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	reservation, err := limiter.Reserve(ctx, time.Minute, policy.Request("{u}a").Cost(5), redisrl.Window(time.Hour, 2).Request("{u}c"))
	if err != nil || !reservation.Allowed || reservation.Headers["RateLimit"] == "" {
		t.Fatalf("%+v, %v", reservation, err)
	}
	if err := reservation.Settle(ctx, 1); err != nil {
		t.Fatal(err)
	}
	decision, err = limiter.Peek(ctx, policy.Request("{u}a").Cost(0))
	step("a reservation that is settled", 6, decision, err)
}

// A lease is renewed until its context ends, and then free at once.
func TestALeaseEndsWithItsContext(t *testing.T) {
	limiter, _ := client(t)
	policy := redisrl.Lease(300*time.Millisecond, 1)
	holds, leave := context.WithCancel(ctx)
	first, err := limiter.Lease(holds, policy, "jobs")
	if err != nil || !first.Allowed {
		t.Fatalf("%+v, %v", first, err)
	}
	for end := time.Now().Add(700 * time.Millisecond); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if second, err := limiter.Lease(ctx, policy, "jobs"); !first.IsLost() && (err != nil || second.Allowed) {
			t.Fatalf("%+v, %v", second, err)
		}
	}
	leave()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		second, err := limiter.Lease(ctx, policy, "jobs")
		if err == nil && second.Allowed {
			second.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%+v, %v", second, err)
		}
	}
}

func BenchmarkAllow(b *testing.B) {
	limiter, doer := client(b)
	policy := redisrl.Token(time.Second, 1_000_000_000)
	// Interleaved, since the machine does other work.
	var took [2][]time.Duration
	for n := range b.N {
		key := fmt.Sprint("k", n%100)
		for i, ask := range []func() error{
			func() error { _, err := doer.Do(ctx, "RL.TOKEN", key, "1000ms", "1000000000", "LINE"); return err },
			func() error { _, err := limiter.Allow(ctx, policy, key); return err },
		} {
			begin := time.Now()
			if err := ask(); err != nil {
				b.Fatal(err)
			}
			took[i] = append(took[i], time.Since(begin))
		}
	}
	median := func(all []time.Duration) float64 {
		slices.Sort(all)
		return float64(all[len(all)/2])
	}
	b.ReportMetric(median(took[1])/median(took[0]), "raw")
}
