package main

import (
	"context"
	"errors"
	"fmt"
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
		if denied == strings.HasSuffix(text, " SHADOW") {
			t.Errorf("%s: denied %v", text, denied)
		}
	}
}

// What a step found, and what it was to find. The steps of a table are made in its order.
type step struct{ what, found, want string }

func compare(t *testing.T, steps []step) {
	t.Helper()
	for _, each := range steps {
		if each.found != each.want {
			t.Errorf("%s: %s, not %s", each.what, each.found, each.want)
		}
	}
}

func show(d redisrl.Decision, err error) string {
	return fmt.Sprint(d.Allowed, d.Remaining, d.Charged, err)
}

func showAll(all redisrl.Decisions, err error) string {
	text := fmt.Sprint(all.Allowed, " ", all.Paid, " ", all.RetryAfter > 0, ":")
	for _, each := range all.Limits {
		text += fmt.Sprint(" ", each.Remaining)
	}
	return fmt.Sprint(text, " ", err)
}

func TestEveryCall(t *testing.T) {
	limiter, _ := client(t)
	policy := redisrl.MustPolicy("ROLLING 1h 10")
	address, team, model := redisrl.MustPolicy("TOKEN 1h 2 AS address"), redisrl.MustPolicy("COUNTER 1h 2"), redisrl.MustPolicy("TOKEN 1h 4")
	ask := func(cost int64) redisrl.Request { return policy.Request("k").Cost(cost) }
	reset := func() string { return fmt.Sprint(limiter.Reset(ctx, policy, "k")) }
	both := func() string {
		return showAll(limiter.Multi(ctx, policy.Request("user:42").Cost(3), address.Request("ip:192.0.2.1")))
	}
	share := func(cost int64) string {
		return showAll(limiter.Share(ctx, team.Request("team").Cost(cost), model.Request("model").Cost(cost)))
	}
	first, err := limiter.AllowN(ctx, policy, "k", 7)
	compare(t, []step{
		{"AllowN", show(first, err), "true 3 7 <nil>"},
		{"Settle", show(limiter.Settle(ctx, ask(7).At(first.NowMS), 4)), "true 5 4 <nil>"},
		{"Refund", show(limiter.Refund(ctx, ask(2).At(first.NowMS))), "true 6 0 <nil>"},
		{"Peek", show(limiter.Peek(ctx, ask(0))), "true 8 0 <nil>"},
		{"Partial", show(limiter.Check(ctx, ask(100).Partial())), "true 0 8 <nil>"},
		{"Always", show(limiter.Check(ctx, ask(3).Always())), "false 0 3 <nil>"},
		{"no part of a unit is left", show(limiter.Check(ctx, ask(0).Partial())), "false 0 0 <nil>"},
		{"Reset", reset(), "true <nil>"},
		{"a part of a unit is left", show(limiter.Check(ctx, ask(0).Partial())), "true 10 0 <nil>"},
		{"Reset of nothing", reset(), "false <nil>"},
		{"Multi", both(), "true 0 false: 7 1 <nil>"},
		{"Multi again", both(), "true 0 false: 4 0 <nil>"},
		{"all or none", both(), "false 0 true: 1 0 <nil>"},
		{"a part of its own", share(2), "true 1 false: 0 2 <nil>"},
		{"what others leave of the whole", share(2), "true 2 false: 0 0 <nil>"},
		{"neither", share(1), "false 0 true: 0 0 <nil>"},
	})
	reserved := policy.Request("call").Cost(5).Reserve("call-1", time.Minute)
	decision, err := limiter.Check(ctx, reserved)
	if !hasModule {
		if err == nil || !strings.Contains(err.Error(), "only the module has it") {
			t.Fatalf("%+v, %v", decision, err)
		}
		return
	}
	calls := redisrl.MustPolicy("FIXED day 9 AS calls").Request("call").Reserve("call-1", time.Minute)
	compare(t, []step{
		{"Reserve", show(decision, err), "true 5 5 <nil>"},
		{"an id that is open is not charged again", showAll(limiter.Multi(ctx, reserved, calls)), "true 0 false: 5 8 <nil>"},
		{"a reservation is settled", show(limiter.Settle(ctx, reserved, 2)), "true 7 2 <nil>"},
		{"once", show(limiter.Settle(ctx, reserved, 2)), "true 7 0 <nil>"},
	})
}

func TestWaitingAndLeases(t *testing.T) {
	limiter, _ := client(t)
	policy, hour, leases := redisrl.MustPolicy("TOKEN 1s 5 BURST 1"), redisrl.MustPolicy("TOKEN 1h 1"), redisrl.MustPolicy("LEASE 1m 1")
	begin := time.Now()
	compare(t, []step{
		{"the first", fmt.Sprint(limiter.Wait(ctx, policy, "w")), "<nil>"},
		{"the next waits", fmt.Sprint(limiter.Wait(ctx, policy, "w")), "<nil>"},
	})
	if took := time.Since(begin); took < 150*time.Millisecond {
		t.Errorf("waited for %v", took)
	}
	short, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	left, cancel := context.WithCancel(ctx)
	cancel()
	lease := func() string {
		holder, err := limiter.Lease(ctx, leases, "jobs")
		return fmt.Sprint(holder.Allowed, err)
	}
	first, err := limiter.Lease(ctx, leases, "jobs")
	compare(t, []step{
		{"a cost that is too large", fmt.Sprint(limiter.WaitN(ctx, policy, "w", 2)), "redisrl: the limit never allows this cost"},
		{"one of an hour", fmt.Sprint(limiter.Wait(short, hour, "w")), "<nil>"},
		{"after the deadline", fmt.Sprint(errors.Is(limiter.Wait(short, hour, "w"), context.DeadlineExceeded)), "true"},
		{"a lease", fmt.Sprint(first.Allowed, err), "true <nil>"},
		{"another", lease(), "false <nil>"},
		{"Renew", fmt.Sprint(first.Renew(ctx)), "true <nil>"},
		{"Release, though the caller has left", fmt.Sprint(first.Release(left)), "true <nil>"},
		{"Release again", fmt.Sprint(first.Release(left)), "false <nil>"},
		{"the place is free", lease(), "true <nil>"},
	})
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
}
