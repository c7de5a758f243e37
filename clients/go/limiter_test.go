package redisrl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const (
	allowed = "1 0 60 60 59 0 1000 1000 0 1795281570123 0 1"
	denied  = "0 60 1 60 0 30000 30000 60000 0 1795281570123 0 0"
)

func TestPolicies(t *testing.T) {
	for policy, text := range map[Policy]string{
		Token(time.Minute, 60).Burst(10).As("api"):           "TOKEN 60000ms 60 BURST 10 AS api",
		Fixed(time.Hour, 5).Anchor(time.Unix(7, 0)).Shadow(): "FIXED 3600000ms 5 ANCHOR 7 SHADOW",
		FixedCalendar("month", 1000):                         "FIXED month 1000",
		Lease(30*time.Second, 0):                             "LEASE 30000ms 0",
	} {
		read, err := ParsePolicy(strings.ToLower(text[:5]) + text[5:])
		if policy.String() != text || err != nil || read.String() != text {
			t.Errorf("%s: %s, %v, %v", text, policy, read, err)
		}
	}
	for text, part := range map[string]string{
		"":                             "an algorithm, a window",
		"TOKEM 1m 5":                   "expected one of COUNTER, FIXED",
		"TOKEN 1.5 5":                  "invalid window",
		"TOKEN month 5":                "invalid window",
		"TOKEN 01 5":                   "invalid window",
		"FIXED 9999999999999999999 5":  "invalid window",
		"TOKEN 1m -1":                  "invalid limit",
		"TOKEN 1m +1":                  "invalid limit",
		"TOKEN 1m 9223372036854775808": "invalid limit",
		"COUNTER 1m 5 BURST 5":         "COUNTER takes none",
		"TOKEN 1m 5 BURST 0":           "invalid BURST",
		"TOKEN 1m 5 ANCHOR 0":          "TOKEN takes none",
		"TOKEN 1m 5 AS a/b":            "invalid AS",
		"TOKEN 1m 5 AS":                "no value",
		"TOKEN 1m 5 AS a AS b":         "twice",
		"TOKEN 1m 5 COST 3":            "after limit come",
	} {
		if policy, err := ParsePolicy(text); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, %v", text, policy, err)
		}
	}
	for name, build := range map[string]func(){
		"a part of a millisecond": func() { Token(time.Nanosecond, 1) },
		"no window":               func() { Token(0, 1) },
		"no burst":                func() { Token(time.Second, 1).Burst(0) },
		"no name":                 func() { Token(time.Second, 1).As("") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			build()
		}()
	}
}

func TestPeriods(t *testing.T) {
	billing := FixedCalendar("month", 1).Anchor(time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC))
	for _, c := range []struct {
		policy Policy
		at     string
		days   int64
	}{
		{FixedCalendar("month", 1), "2024-02-29T00:00:00Z", 29},
		{FixedCalendar("year", 1), "2024-02-29T00:00:00Z", 366},
		{FixedCalendar("year", 1), "2026-01-01T00:00:00Z", 365},
		{FixedCalendar("week", 1), "1970-01-01T00:00:00Z", 7},
		{billing, "2026-01-31T12:00:00Z", 28},
		{billing, "2026-02-28T12:00:00Z", 31},
		{billing, "2026-01-31T11:59:59Z", 31}, // before the anchor
		{billing, "2025-03-01T00:00:00Z", 31},
	} {
		at, _ := time.Parse(time.RFC3339, c.at)
		if days := c.policy.windowAt(at.UnixMilli()) / 86_400_000; days != c.days {
			t.Errorf("%s at %s: %d days", c.policy, c.at, days)
		}
	}
}

// A limiter over a function, and how many commands were sent.
func over(reply func(n int64) (any, error)) (*Limiter, *atomic.Int64) {
	sent := new(atomic.Int64)
	return &Limiter{Logger: quiet, Doer: doer(func(_ context.Context, args ...any) (any, error) {
		if args[0] == "PING" {
			return reply(0)
		}
		return reply(sent.Add(1))
	})}, sent
}

var ctx = context.Background()

func TestDenialsAreRemembered(t *testing.T) {
	policy := Token(time.Minute, 60)
	var fails atomic.Bool
	limiter, sent := over(func(n int64) (any, error) {
		if fails.Load() {
			return nil, io.EOF
		}
		return denied, nil
	})
	ask := func(cost int64) (Decision, error) { return limiter.AllowN(ctx, policy, "k", cost) }
	age := func(by time.Duration) {
		for _, denial := range limiter.denials.all {
			denial.sent, denial.until = denial.sent.Add(-by), denial.until.Add(-by)
		}
	}
	step := func(what string, cost, commands int64, source Source) {
		t.Helper()
		decision, err := ask(cost)
		if err != nil || decision.Allowed || sent.Load() != commands || decision.Source != source {
			t.Fatalf("%s: %+v, %v, %d sent", what, decision, err, sent.Load())
		}
	}
	step("the first", 5, 1, Server)
	step("as much", 5, 1, Remembered)
	step("less is asked", 4, 2, Server)
	step("more", 9, 2, Remembered)
	age(recheckAfter - time.Second)
	if d, _ := ask(9); d.RetryAfter > 21*time.Second || d.RetryAfter < 20*time.Second || d.NowMS < 1795281579123 {
		t.Fatalf("later: %+v", d)
	}
	age(time.Second)
	step("asks again", 9, 3, Server)
	fails.Store(true)
	age(recheckAfter)
	step("asks again, without a reply: it holds", 9, 4, Remembered)
	age(20 * time.Second)
	if _, err := ask(9); !IsUnavailable(err) {
		t.Fatalf("it is over: %v", err)
	}
	fails.Store(false)
	// What this limiter gives back ends it.
	limiter, sent = over(func(n int64) (any, error) { return denied, nil })
	step("another", 1, 1, Server)
	if _, err := limiter.Refund(ctx, policy.Request("k")); err != nil {
		t.Fatal(err)
	}
	step("after a refund", 1, 3, Server)
	// Two limits: one that denies.
	all, err := limiter.Multi(ctx, policy.Request("k"), policy.Request("other"))
	if err != nil || all.Allowed || all.Limits[0].Source != Remembered || all.Limits[1].Source != Unchecked || sent.Load() != 3 {
		t.Fatalf("%+v, %v", all, err)
	}
	limiter.Denials = 3
	limiter.denials.most = 3
	for n := range 20 {
		_, _ = limiter.Allow(ctx, policy, fmt.Sprint(n))
	}
	if len(limiter.denials.all) > 3 {
		t.Fatalf("%d denials are remembered", len(limiter.denials.all))
	}
}

func TestWithoutADecision(t *testing.T) {
	policy := Token(time.Minute, 60)
	for _, c := range []struct {
		err                        error
		unavailable                bool
		opened, closed, rejections int64
	}{
		{errors.New("LOADING Redis is loading"), true, 1, 0, 0},
		{errors.New("dial tcp 127.0.0.1:1: connect: connection refused"), true, 1, 0, 0},
		{io.ErrUnexpectedEOF, true, 1, 0, 0},
		{errors.New("WRONGTYPE Operation"), false, 0, 0, 1},
		{errors.New("ERR invalid window"), false, 0, 0, 1},
	} {
		for _, fallback := range []Fallback{Error, Allow, Deny} {
			limiter, _ := over(func(int64) (any, error) { return nil, c.err })
			limiter.Unavailable = fallback
			decision, err := limiter.Allow(ctx, policy, "k")
			stats := limiter.Stats()
			if (err == nil) != (c.unavailable && fallback != Error) || decision.Allowed != (c.unavailable && fallback == Allow) {
				t.Errorf("%v: %+v, %v", c.err, decision, err)
			}
			if stats.FailedOpen+stats.FailedClosed != c.opened || stats.FailedOpen != c.opened*map[Fallback]int64{Allow: 1}[fallback] ||
				stats.Faults != c.rejections || stats.Errors[kind(c.err)] != 1 {
				t.Errorf("%v: %+v", c.err, stats)
			}
			all, err := limiter.Multi(ctx, policy.Request("k"), policy.Request("l"))
			if (err == nil) != (c.unavailable && fallback != Error) || all.Allowed != (c.unavailable && fallback == Allow) {
				t.Errorf("%v: %+v, %v", c.err, all, err)
			}
		}
	}
	// What is no reply of the command is a fault.
	for _, reply := range []any{nil, "", "1 2", int64(1), []any{}, strings.Replace(allowed, "60", "x", 1)} {
		limiter, _ := over(func(int64) (any, error) { return reply, nil })
		limiter.Unavailable = Allow
		if decision, err := limiter.Allow(ctx, policy, "k"); err == nil {
			t.Errorf("%v: %+v", reply, decision)
		}
	}
	limiter, sent := over(func(int64) (any, error) { return allowed, nil })
	for name, request := range map[string]Request{
		"no policy": {Key: "k"}, "no key": policy.Request(""), "a cost below 0": policy.Request("k").Cost(-1),
		"a lease": Lease(time.Minute, 1).Request("k"),
	} {
		if decision, err := limiter.Check(ctx, request); err == nil || sent.Load() > 0 {
			t.Errorf("%s: %+v", name, decision)
		}
	}
}

// A server that hangs: the caller waits no longer than it may, a caller who leaves is never allowed, and after 250 ms of silence nothing more is sent, until a PING has a reply.
func TestASilentServer(t *testing.T) {
	policy, hangs, sent := Token(time.Minute, 60), make(chan struct{}), new(atomic.Int64)
	limiter := &Limiter{Timeout: 40 * time.Millisecond, Unavailable: Allow, Logger: quiet}
	limiter.Doer = doer(func(ctx context.Context, args ...any) (any, error) {
		if args[0] != "PING" {
			sent.Add(1)
		}
		select {
		case <-hangs:
			return allowed, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	begin := time.Now()
	decision, err := limiter.Allow(ctx, policy, "k")
	if took := time.Since(begin); err != nil || !decision.Allowed || took < 40*time.Millisecond || took > 2*time.Second {
		t.Fatalf("%+v, %v after %s", decision, err, took)
	}
	leaves, cancel := context.WithCancel(ctx)
	time.AfterFunc(10*time.Millisecond, cancel)
	if decision, err = limiter.Allow(leaves, policy, "k"); !errors.Is(err, context.Canceled) {
		t.Fatalf("who has left: %+v, %v", decision, err)
	}
	short, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
	defer cancel()
	if decision, err = limiter.Allow(short, policy, "k"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("who has no more time: %+v, %v", decision, err)
	}
	time.Sleep(300*time.Millisecond - time.Since(begin))
	before, begin := sent.Load(), time.Now()
	for range 100 {
		if _, err := limiter.Allow(ctx, policy, "k"); err != nil {
			t.Fatal(err)
		}
	}
	if sent.Load() != before || limiter.Stats().Errors["circuit open"] != 100 {
		t.Fatalf("%d sent, %+v", sent.Load()-before, limiter.Stats())
	}
	close(hangs)
	for end := time.Now().Add(3 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if decision, err = limiter.Allow(ctx, policy, "k"); err == nil && decision.Source == Server {
			return
		}
		if time.Now().After(end) {
			t.Fatal("it stays open")
		}
	}
}

func TestMiddleware(t *testing.T) {
	replies := map[string]any{"v1": allowed, "v2": denied, "v3": errors.New("LOADING"), "v4": errors.New("ERR unknown command 'RL.X'")}
	limiter := &Limiter{Logger: quiet, ModuleRequired: true, Doer: doer(func(_ context.Context, args ...any) (any, error) {
		if err, isError := replies[args[1].(string)].(error); isError {
			return nil, err
		}
		return replies[args[1].(string)], nil
	})}
	handler := limiter.Middleware(Token(time.Minute, 60).As("api"), HeaderValue("X-Api-Key"))(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "served") }))
	for key, want := range map[string]string{
		"v1": "200 served", "v3": `503 {"type":"about:blank","title":"Service Unavailable","status":503}`,
		"v4": `500 {"type":"about:blank","title":"Internal Server Error","status":500}`,
		"":   `500 {"type":"about:blank","title":"Internal Server Error","status":500}`,
		"v2": `429 {"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota exceeded","status":429,` +
			`"violated-policies":["api"]}`,
	} {
		request, response := httptest.NewRequest("GET", "/", nil), httptest.NewRecorder()
		request.Header.Set("X-Api-Key", key)
		handler.ServeHTTP(response, request)
		if found := fmt.Sprint(response.Code, " ", strings.TrimSpace(response.Body.String())); found != want {
			t.Errorf("%s: %s", key, found)
		}
		header := response.Header()
		retry, policy := header.Get("Retry-After"), header.Get("RateLimit-Policy")
		if key == "v2" && (retry != "30" || header.Get("RateLimit") != `"api";r=0;t=30` || policy != `"api";q=60;w=60`) || key == "v3" && retry != "1" {
			t.Errorf("%s: %v", key, header)
		}
	}
}

func TestKeysOfRequests(t *testing.T) {
	for _, c := range []struct {
		key               KeyFunc
		remote, forwarded string
		want              string
	}{
		{RemoteAddress, "192.0.2.1:80", "", "192.0.2.1"},
		{RemoteAddress, "[2001:db8::1:2:3:4]:80", "", "2001:db8::"},
		{RemoteAddress, "[::ffff:192.0.2.1]:80", "", "192.0.2.1"},
		{RemoteAddress, "@", "", ""},
		{ForwardedAddress(1), "", "6.6.6.6, 192.0.2.1", "192.0.2.1"},
		{ForwardedAddress(2), "", "6.6.6.6, 192.0.2.1", "6.6.6.6"},
		{ForwardedAddress(3), "", "6.6.6.6, 192.0.2.1", ""},
		{ForwardedAddress(0), "", "192.0.2.1", ""},
		{ForwardedAddress(1), "", "[2001:db8::1]:80", "2001:db8::"},
		{ForwardedAddress(1), "", "192.0.2.1:8080", "192.0.2.1"},
		{ForwardedAddress(1), "", "unknown", ""},
	} {
		request := httptest.NewRequest("GET", "/", nil)
		request.RemoteAddr = c.remote
		request.Header.Set("X-Forwarded-For", c.forwarded)
		if key, err := c.key(request); key != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %s, %v", c, key, err)
		}
	}
}

func TestAllocations(t *testing.T) {
	limiter, _ := over(func(int64) (any, error) { return allowed, nil })
	limiter.Prefix = "app:"
	policy := Token(time.Minute, 60).Burst(10).As("api")
	if n := testing.AllocsPerRun(1000, func() { _, _ = limiter.Allow(ctx, policy, "user:42") }); n > 5 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzReply(f *testing.F) {
	for _, line := range []string{allowed, denied, "", "1 0", "-1 9223372036854775808 1 1 1 1 1 1 1 1 1 1"} {
		f.Add(line)
	}
	requests := []Request{Token(time.Minute, 60).Request("k")}
	f.Fuzz(func(t *testing.T, line string) {
		var read [figures]int64
		if decision, err := requests[0].decision(line); (err == nil) != readLine(line, &read) {
			t.Errorf("%q: %+v, %v", line, decision, err)
		} else if err == nil {
			decision.WriteHeaders(http.Header{})
		}
		_, _ = readDecisions([]any{line, []any{line}}, requests, nil)
	})
}
