package main

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	redisrl "example.com/redis-rl/clients/go"
	"github.com/gomodule/redigo/redis"
)

var ctx = context.Background()

// Whether the server has the module: clients/server.py starts it without where MODULE is none.
var hasModule = os.Getenv("MODULE") != "none"

func client(t testing.TB) (*redisrl.Limiter, redisrl.Doer) {
	port := os.Getenv("RL_PORT")
	if port == "" {
		t.Skip("RL_PORT is not set: run clients/server.py go test")
	}
	doer := redigo{&redis.Pool{MaxIdle: 10, DialContext: func(ctx context.Context) (redis.Conn, error) {
		return redis.DialContext(ctx, "tcp", "127.0.0.1:"+port)
	}}}
	patient, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if _, err := doer.Do(patient, "FLUSHALL"); err != nil {
		t.Fatal(err)
	}
	return &redisrl.Limiter{Doer: doer, Timeout: 10 * time.Second, Prefix: "{app}:"}, doer
}

// What a command replies with HEADERS is what the decision writes.
func TestEveryAlgorithm(t *testing.T) {
	limiter, doer := client(t)
	for _, text := range []string{
		"FIXED 1h 5", "FIXED month 5 ANCHOR 2682000 AS quota", "WINDOW 1h 5", "SLIDING 1h 5", "COUNTER 1h 5", "TOKEN 1h 5 BURST 3",
		"LEAKY 1h 5", "GCRA 500ms 5 AS fast", "ROLLING 1h 5", "TOKEN 1h 0 SHADOW", "LOCKOUT 1h 5 BLOCK 1m MAX 1h",
	} {
		policy, err := redisrl.ParsePolicy(text)
		if err != nil {
			t.Fatal(err)
		}
		denied := false
		for n := 0; n < 20 && !denied; n++ {
			decision, err := limiter.Allow(ctx, policy, "k")
			if err != nil {
				t.Fatal(text, err)
			}
			denied = !decision.Allowed
			shown, err := limiter.Peek(ctx, policy.Request("k"))
			if err != nil {
				t.Fatal(text, err)
			}
			if !hasModule {
				continue
			}
			header := http.Header{}
			shown.WriteHeaders(header)
			words := strings.Fields(text)
			args := []any{"RL.PEEK", words[0], "{app}:" + policy.Name() + ":{k}"}
			for _, word := range append(words[1:], "HEADERS") {
				args = append(args, word)
			}
			patient, cancel := context.WithTimeout(ctx, 10*time.Second)
			reply, err := doer.Do(patient, args...)
			cancel()
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
	policy := redisrl.MustPolicy("ROLLING 1h 10")
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
	decision, err = limiter.Check(ctx, policy.Request("k").Cost(100).Partial())
	if step("Partial", 0, decision, err); decision.Charged != 8 {
		t.Fatalf("%+v", decision)
	}
	decision, err = limiter.Check(ctx, policy.Request("k").Cost(3).Always())
	if step("Always", 0, decision, err); decision.Charged != 3 {
		t.Fatalf("%+v", decision)
	}
	for _, found := range []bool{true, false} {
		if none, err := limiter.Check(ctx, policy.Request("k").Cost(0).Partial()); err != nil || none.Allowed == found {
			t.Fatalf("no part of a unit: %+v, %v", none, err)
		}
		if reset, err := limiter.Reset(ctx, policy, "k"); err != nil || reset != found {
			t.Fatal(reset, err)
		}
	}
	for _, allowed := range []bool{true, true, false} {
		all, err := limiter.Multi(ctx, policy.Request("user:42").Cost(3), redisrl.MustPolicy("TOKEN 1h 2 AS address").Request("ip:192.0.2.1"))
		if err != nil || all.Allowed != allowed || all.Limits[0].Allowed == false {
			t.Fatalf("%+v, %v", all, err)
		}
	}
	// A part of its own, then what others leave of the whole, then neither.
	for _, c := range []struct {
		cost int64
		paid int
	}{{2, 1}, {2, 2}, {1, 0}} {
		all, err := limiter.Share(ctx, redisrl.MustPolicy("COUNTER 1h 2").Request("team").Cost(c.cost), redisrl.MustPolicy("TOKEN 1h 4").Request("model").Cost(c.cost))
		if err != nil || all.Paid != c.paid || all.Allowed != (c.paid > 0) || (all.RetryAfter > 0) == all.Allowed {
			t.Fatalf("%+v, %v", all, err)
		}
	}
	reserved := policy.Request("call").Cost(5).Reserve("call-1", time.Minute)
	decision, err = limiter.Check(ctx, reserved)
	if !hasModule {
		if err == nil || !strings.Contains(err.Error(), "only the module has it") {
			t.Fatalf("%+v, %v", decision, err)
		}
		return
	}
	step("Reserve", 5, decision, err)
	both, err := limiter.Multi(ctx, reserved, redisrl.MustPolicy("FIXED day 9 AS calls").Request("call").Reserve("call-1", time.Minute))
	if err != nil || !both.Allowed || both.Limits[0].Remaining != 5 || both.Limits[1].Remaining != 8 {
		t.Fatalf("an id that is open is not charged again: %+v, %v", both, err)
	}
	for _, charged := range []int64{2, 0} { // once
		if decision, err = limiter.Settle(ctx, reserved, 2); err != nil || decision.Charged != charged {
			t.Fatalf("%+v, %v", decision, err)
		}
	}
}

func TestWaitingAndLeases(t *testing.T) {
	limiter, _ := client(t)
	policy, begin := redisrl.MustPolicy("TOKEN 1s 5 BURST 1"), time.Now()
	for range 2 {
		if err := limiter.Wait(ctx, policy, "w"); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(begin); took < 150*time.Millisecond {
		t.Errorf("waited for %v", took)
	}
	if err := limiter.WaitN(ctx, policy, "w", 2); err == nil || !strings.Contains(err.Error(), "never") {
		t.Errorf("a cost that is too large: %v", err)
	}
	short, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	hour := redisrl.MustPolicy("TOKEN 1h 1")
	if err := limiter.Wait(short, hour, "w"); err != nil {
		t.Fatal(err)
	}
	if err := limiter.Wait(short, hour, "w"); err == nil || time.Since(begin) > 30*time.Second {
		t.Errorf("after the deadline: %v", err)
	}
	leases := redisrl.MustPolicy("LEASE 1m 1")
	first, err := limiter.Lease(ctx, leases, "jobs")
	if err != nil || !first.Allowed {
		t.Fatalf("%+v, %v", first, err)
	}
	if second, err := limiter.Lease(ctx, leases, "jobs"); err != nil || second.Allowed {
		t.Fatalf("%+v, %v", second, err)
	}
	if held, err := first.Renew(ctx); !held || err != nil {
		t.Error(held, err)
	}
	left, cancel := context.WithCancel(ctx)
	cancel()
	for _, held := range []bool{true, false} {
		if found, err := first.Release(left); found != held || err != nil {
			t.Error(found, err)
		}
	}
	if second, err := limiter.Lease(ctx, leases, "jobs"); err != nil || !second.Allowed {
		t.Errorf("%+v, %v", second, err)
	}
}
