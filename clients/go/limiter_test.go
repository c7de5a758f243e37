package redisrl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
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
	for text, want := range map[string][3]string{
		"token 1m 60 BURST 10 AS api":             {"TOKEN 60000ms 60 BURST 10", "api", "api"},
		"FIXED 1h 5 SHADOW anchor 0":              {"FIXED 3600000ms 5 ANCHOR 0 SHADOW", "fixed:3600000ms:0", "fixed"},
		"FIXED month 1000":                        {"FIXED month 1000", "fixed:month", "fixed"},
		"LOCKOUT 90 3 MAX 1d BLOCK 500ms":         {"LOCKOUT 90000ms 3 BLOCK 500ms MAX 86400000ms", "lockout:90000ms", "lockout"},
		"TOKEN 1000000000000 9223372036854775807": {"TOKEN 1000000000000000ms 9223372036854775807", "token:1000000000000000ms", "token"},
	} {
		if p, err := ParsePolicy(text); err != nil || p.String() != want[0] || p.name != want[1] || p.label != want[2] {
			t.Errorf("%s: %s, %v", text, p, err)
		}
	}
	for text, part := range map[string]string{
		"":                               "an algorithm, a window",
		"TOKEM 1m 5":                     "expected one of COUNTER, FIXED",
		"TOKEN 1.5 5":                    "invalid window",
		"TOKEN month 5":                  "invalid window",
		"FIXED 9999999999999999999 5":    "invalid window",
		"TOKEN 1m -1":                    "invalid limit",
		"TOKEN 1m 9223372036854775808":   "invalid limit",
		"COUNTER 1m 5 BURST 5":           "COUNTER takes none",
		"TOKEN 1m 5 BURST 0":             "invalid BURST",
		"TOKEN 1m 5 AS a/b":              "invalid AS",
		"TOKEN 1m 5 AS":                  "no value",
		"LOCKOUT 1m 5 MAX 59s":           "at least BLOCK",
		"FIXED 1m 5 ANCHOR 253402300800": "invalid ANCHOR",
		"TOKEN 1m 5 AS a AS b":           "twice",
		"TOKEN 1m 5 COST 3":              "after limit come",
	} {
		if policy, err := ParsePolicy(text); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, %v", text, policy, err)
		}
	}
	defer func() {
		if found := recover(); !strings.Contains(fmt.Sprint(found), "TOKEN 0 1: invalid window") {
			t.Errorf("%v", found)
		}
	}()
	MustPolicy("TOKEN 0 1")
}

func TestPeriods(t *testing.T) {
	billing := MustPolicy("FIXED month 1 ANCHOR 1769860800") // 2026-01-31T12:00:00Z
	for _, c := range []struct {
		policy Policy
		at     string
		days   int64
	}{
		{MustPolicy("FIXED month 1"), "2024-02-29T00:00:00Z", 29},
		{MustPolicy("FIXED year 1"), "2024-02-29T00:00:00Z", 366},
		{MustPolicy("FIXED year 1"), "2026-01-01T00:00:00Z", 365},
		{MustPolicy("FIXED week 1"), "1970-01-01T00:00:00Z", 7},
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
		return reply(sent.Add(1))
	})}, sent
}

var ctx = context.Background()

func TestWithoutADecision(t *testing.T) {
	policy := MustPolicy("TOKEN 1m 60")
	away, fault := map[Fallback]Stats{Error: {FailedClosed: 1}, Allow: {FailedOpen: 1}, Deny: {FailedClosed: 1}}, Stats{Faults: 1}
	for _, c := range []struct {
		err         error
		unavailable bool
		want        map[Fallback]Stats
	}{
		{errors.New("LOADING Redis is loading"), true, away},
		{errors.New("dial tcp 127.0.0.1:1: connect: connection refused"), true, away},
		{io.ErrUnexpectedEOF, true, away},
		{errors.New("redigo: connection pool exhausted"), true, away},
		{errors.New("WRONGTYPE Operation"), false, map[Fallback]Stats{Error: fault, Allow: fault, Deny: fault}},
		{errors.New("ERR invalid window"), false, map[Fallback]Stats{Error: fault, Allow: fault, Deny: fault}},
	} {
		for _, fallback := range []Fallback{Error, Allow, Deny} {
			limiter, _ := over(func(int64) (any, error) { return nil, c.err })
			limiter.Unavailable = fallback
			decision, err := limiter.Allow(ctx, policy, "k")
			stats := limiter.Stats()
			if _, err := limiter.Refund(ctx, policy.Request("k")); err == nil {
				t.Errorf("%v: a refund", c.err)
			}
			if (err == nil) != (c.unavailable && fallback != Error) || decision.Allowed != (c.unavailable && fallback == Allow) {
				t.Errorf("%v: %+v, %v", c.err, decision, err)
			}
			want := c.want[fallback]
			want.Errors = map[string]int64{kind(c.err): 1}
			if !reflect.DeepEqual(stats, want) || err == nil && decision.Source != Unavailable {
				t.Errorf("%v: %+v", c.err, stats)
			}
			if found := kind(c.err); limiter.breaker.isOpen != (found == "connection") {
				t.Errorf("%v: %s opens the breaker: %v", c.err, found, limiter.breaker.isOpen)
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
		"a lease without an ID": MustPolicy("LEASE 1m 1").Request("k"), "no ttl": MustPolicy("WINDOW 1m 1").Request("k").Reserve("a", 0),
	} {
		if decision, err := limiter.Check(ctx, request); err == nil || IsUnavailable(err) || sent.Load() > 0 {
			t.Errorf("%s: %+v", name, decision)
		}
	}
	for name, limiter := range map[string]*Limiter{
		"no client": {}, "a long prefix": {Doer: limiter.Doer, Prefix: strings.Repeat("x", 257)},
		"no instances": {Doer: limiter.Doer, Unavailable: Local}, "another fallback": {Doer: limiter.Doer, Unavailable: 4},
	} {
		if decision, err := limiter.Allow(ctx, policy, "k"); err == nil || IsUnavailable(err) || sent.Load() > 0 {
			t.Errorf("%s: %+v", name, decision)
		}
	}
}

// A logger whose lines are kept.
func logs() (*slog.Logger, *strings.Builder) {
	lines := new(strings.Builder)
	return slog.New(slog.NewTextHandler(lines, nil)), lines
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

func show(d Decision, err error) string {
	return fmt.Sprint(d.Allowed, " ", d.Remaining, " of ", []string{"server", "process", "nobody"}[d.Source], " ", err)
}

func showAll(all Decisions, err error) string {
	text := fmt.Sprint(all.Allowed, " ", all.Paid, " charged")
	for _, each := range all.Limits {
		text += fmt.Sprint(" ", each.Charged)
	}
	return fmt.Sprint(text, " ", err)
}

func TestLocal(t *testing.T) {
	var isAway atomic.Bool
	limiter, _ := over(func(int64) (any, error) {
		if isAway.Load() {
			return nil, io.EOF
		}
		return allowed, nil
	})
	limiter.Unavailable, limiter.Instances = Local, 2
	var lines *strings.Builder
	limiter.Logger, lines = logs()
	policy := MustPolicy("TOKEN 1h 8")
	allow := func(cost int64) string { return show(limiter.AllowN(ctx, policy, "k", cost)) }
	check := func(text, id string) string {
		return show(limiter.Check(ctx, Request{Policy: MustPolicy(text), Key: "k", id: id}))
	}
	multi := func() string {
		return showAll(limiter.Multi(ctx, MustPolicy("WINDOW 1h 4").Request("k"), MustPolicy("COUNTER 1h 1").Request("k")))
	}
	share := func(whole string) string {
		return showAll(limiter.Share(ctx, MustPolicy("WINDOW 1h 2").Request("s"), MustPolicy(whole).Request("s")))
	}
	compare(t, []step{{"the server", allow(1), "true 59 of server <nil>"}})
	isAway.Store(true)
	compare(t, []step{
		{"limit / instances", allow(3), "true 1 of process <nil>"},
		{"the last", allow(1), "true 0 of process <nil>"},
		{"none is left", allow(1), "false 0 of process <nil>"},
		{"a refund", show(limiter.Refund(ctx, policy.Request("k").Cost(2))), "true 2 of process <nil>"},
		{"a peek", show(limiter.Peek(ctx, policy.Request("k"))), "true 2 of process <nil>"},
		{"a cost above the limit", allow(5), "false 2 of process <nil>"},
		{"who holds a lease is not known", check("LEASE 1h 5", "a"), "false 0 of process <nil>"},
		{"nor who is locked", check("LOCKOUT 1h 5", ""), "false 0 of process <nil>"},
		{"a limit of 0", check("FIXED 1h 0", ""), "false 0 of process <nil>"},
		{"shadow mode", check("FIXED 1h 0 SHADOW", ""), "true 0 of process <nil>"},
		{"several, of which one is at least 1", multi(), "true 0 charged 1 1 <nil>"},
		{"all or none", multi(), "false 0 charged 0 0 <nil>"},
		{"a part of its own", share("COUNTER 1h 4"), "true 1 charged 1 1 <nil>"},
		{"what others leave", share("COUNTER 1h 4"), "true 2 charged 0 1 <nil>"},
		{"neither", share("COUNTER 1h 4"), "false 0 charged 0 0 <nil>"},
		{"neither, in shadow mode", share("COUNTER 1h 4 SHADOW"), "true 2 charged 0 0 <nil>"},
	})
	header := http.Header{}
	denied, _ := limiter.AllowN(ctx, policy, "k", 3)
	if denied.WriteHeaders(header); header.Get("Retry-After") != "3600" || header.Get("RateLimit") != `"token";r=2;t=3600` {
		t.Errorf("%v", header)
	}
	isAway.Store(false)
	limiter.breaker.reply()
	compare(t, []step{{"the server again", allow(1), "true 59 of server <nil>"}})
	isAway.Store(true)
	compare(t, []step{{"a reply resets nothing", allow(3), "false 2 of process <nil>"}})
	for _, line := range []string{"no decision, the limit of this process decides", "the server decides again"} {
		if strings.Count(lines.String(), line) != 1 {
			t.Errorf("not once: %s in\n%s", line, lines)
		}
	}
	if stats := limiter.Stats(); stats.Allowed != 2 || stats.Local < 15 || stats.FailedOpen+stats.FailedClosed != 0 {
		t.Errorf("%+v", stats)
	}
}

// A full table denies new keys until one has ended, and of RL.SHARE charges no wider limit that has no place.
func TestTheTableOfKeysIsBounded(t *testing.T) {
	l, policy := local{instances: 1, counts: map[string]count{}}, MustPolicy("WINDOW 1s 2")
	ask := func(verb string, now time.Duration, keys ...int) string {
		c := &call{verb: verb}
		for _, key := range keys {
			request := policy.Request("k")
			c.limits = append(c.limits, limit{Request: &request, key: strconv.Itoa(key)})
		}
		return showAll(l.decide(c, now), nil)
	}
	for key := range mostKeys - 1 {
		ask("CHECK", time.Duration(key), key)
	}
	compare(t, []step{
		{"the last place", ask("CHECK", mostKeys, mostKeys-1), "true 0 charged 1 <nil>"},
		{"a new key", ask("CHECK", time.Second-1, mostKeys), "false 0 charged 0 <nil>"},
		{"a key that is counted", ask("CHECK", time.Second-1, 0), "true 0 charged 1 <nil>"},
		{"and has no more", ask("CHECK", time.Second-1, 0), "false 0 charged 0 <nil>"},
		{"a share of new keys", ask("SHARE", time.Second-1, mostKeys, mostKeys+1), "false 0 charged 0 0 <nil>"},
		{"a share whose wider limit is new", ask("SHARE", time.Second-1, 1, mostKeys), "true 1 charged 1 0 <nil>"},
		{"when one has ended", ask("CHECK", time.Second, mostKeys), "true 0 charged 1 <nil>"},
	})
	if len(l.counts) > mostKeys {
		t.Errorf("%d keys", len(l.counts))
	}
}

// The command, and at an unknown command the script; the module is looked for after five seconds, or a broken connection.
func TestTheModuleIsLookedFor(t *testing.T) {
	var hasModule, breaks atomic.Bool
	var sent []any
	limiter := &Limiter{Doer: doer(func(_ context.Context, args ...any) (any, error) {
		sent = append(sent, args[0])
		switch {
		case breaks.Load():
			return nil, io.EOF
		case args[0] == "RL.TOKEN" && !hasModule.Load():
			return nil, errors.New("ERR unknown command 'RL.TOKEN', with args beginning with: 'k'")
		case args[0] == "EVALSHA":
			return nil, errors.New("NOSCRIPT No matching script")
		}
		return allowed, nil
	})}
	var lines *strings.Builder
	limiter.Logger, lines = logs()
	step := func(what, want string) {
		t.Helper()
		sent = nil
		if _, err := limiter.Allow(ctx, MustPolicy("TOKEN 1m 60"), "k"); err != nil && !breaks.Load() || words(sent) != want {
			t.Fatalf("%s: %v, %v", what, sent, err)
		}
	}
	step("no module", "RL.TOKEN EVALSHA EVAL")
	step("within five seconds", "EVALSHA EVAL")
	limiter.began = limiter.began.Add(-lookAgain)
	step("after five seconds", "RL.TOKEN EVALSHA EVAL")
	breaks.Store(true)
	step("the connection breaks", "EVALSHA")
	breaks.Store(false)
	hasModule.Store(true)
	step("a new connection", "RL.TOKEN")
	for _, line := range []string{"a settlement sent twice charges twice: docs/hosted.md", "the module decides again"} {
		if strings.Count(lines.String(), line) != 1 {
			t.Errorf("not once: %s in\n%s", line, lines)
		}
	}
	hasModule.Store(false)
	limiter.ModuleRequired = true
	if _, err := limiter.Allow(ctx, MustPolicy("TOKEN 1m 60"), "k"); err == nil || IsUnavailable(err) {
		t.Errorf("the module is required: %v", err)
	}
}

// A server that hangs: the caller waits no longer than it may, a caller who leaves is never allowed, and after 250 ms of silence one request at a time tries.
func TestASilentServer(t *testing.T) {
	policy, hangs, sent := MustPolicy("TOKEN 1m 60"), make(chan struct{}), new(atomic.Int64)
	limiter := &Limiter{Timeout: 40 * time.Millisecond, Unavailable: Allow, Logger: quiet}
	limiter.Doer = doer(func(ctx context.Context, _ ...any) (any, error) {
		sent.Add(1)
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
	time.Sleep(silence - time.Since(begin))
	short, cancel = context.WithTimeout(ctx, 5*time.Millisecond)
	defer cancel()
	if _, err := limiter.Allow(short, policy, "k"); !errors.Is(err, context.DeadlineExceeded) || limiter.breaker.isOpen {
		t.Fatalf("who has no time says nothing of the server: %v", err)
	}
	if decision, err = limiter.Allow(ctx, policy, "k"); err != nil || !decision.Allowed {
		t.Fatalf("the one that opens it: %+v, %v", decision, err)
	}
	before := sent.Load()
	limiter.breaker.request(limiter.now()) // one tries
	if decision, err = limiter.Allow(ctx, policy, "k"); err != nil || sent.Load() != before || limiter.Stats().Errors["circuit open"] != 1 {
		t.Fatalf("while one tries: %+v, %v, %+v", decision, err, limiter.Stats())
	}
	close(hangs)
	time.Sleep(limiter.Timeout + time.Millisecond) // that one is too old
	if decision, err = limiter.Allow(ctx, policy, "k"); err != nil || decision.Source != Server || limiter.breaker.isOpen {
		t.Fatalf("a reply closes it: %+v, %v", decision, err)
	}
}

func TestMiddleware(t *testing.T) {
	replies := map[string]any{"api:{v1}": allowed, "api:{v2}": denied, "api:{v3}": errors.New("LOADING"), "api:{v4}": errors.New("ERR unknown command 'RL.X'")}
	limiter := &Limiter{Logger: quiet, ModuleRequired: true, Doer: doer(func(_ context.Context, args ...any) (any, error) {
		if err, isError := replies[args[1].(string)].(error); isError {
			return nil, err
		}
		return replies[args[1].(string)], nil
	})}
	policy := MustPolicy("TOKEN 1m 60 AS api")
	plans := map[string]Policy{"free": policy}
	handler := limiter.Middleware(ByRequest(func(r *http.Request) (Request, error) {
		plan, key, _ := strings.Cut(r.Header.Get("X-Api-Key"), " ")
		return plans[plan].Request(key), nil
	}))(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "served") }))
	for key, want := range map[string]string{
		"free v1": "200 served", "free v3": `503 {"type":"about:blank","title":"Service Unavailable","status":503}`,
		"free v4": `500 {"type":"about:blank","title":"Internal Server Error","status":500}`,
		"free ":   `500 {"type":"about:blank","title":"Internal Server Error","status":500}`,
		"none v1": `500 {"type":"about:blank","title":"Internal Server Error","status":500}`,
		"free v2": `429 {"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota exceeded","status":429,` +
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
		if key == "free v2" && (retry != "30" || header.Get("RateLimit") != `"api";r=0;t=30` || policy != `"api";q=60;w=60`) || key == "free v3" && retry != "1" {
			t.Errorf("%s: %v", key, header)
		}
	}
	limiter.Middleware(By(policy, RemoteAddress)) // the same limit again
	for name, limits := range map[string][]Limit{
		"two limits share the keys api:*": {By(MustPolicy("TOKEN 1m 5 AS api"), RemoteAddress)},
		"needs a limit":                   nil,
		"needs a policy":                  {By(Policy{}, RemoteAddress)},
		"and a function":                  {By(policy, nil)},
	} {
		func() {
			defer func() {
				if found := recover(); !strings.Contains(fmt.Sprint(found), name) {
					t.Errorf("%s: %v", name, found)
				}
			}()
			limiter.Middleware(limits...)
		}()
	}
}

// A request that LEAKY delays is held, and one whose caller leaves is not served.
func TestADelayIsWaitedFor(t *testing.T) {
	limiter, _ := over(func(int64) (any, error) { return strings.Replace(allowed, "1000 1000 0 ", "1000 1000 60 ", 1), nil })
	served := 0
	handler := limiter.Middleware(By(MustPolicy("LEAKY 1m 60"), RemoteAddress))(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }))
	begin := time.Now()
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	if took := time.Since(begin); took < 60*time.Millisecond || served != 1 {
		t.Errorf("served %d after %v", served, took)
	}
	leaves, cancel := context.WithCancel(ctx)
	time.AfterFunc(10*time.Millisecond, cancel)
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil).WithContext(leaves))
	if served != 1 {
		t.Error("a request is served whose caller has left")
	}
}

func TestKeysOfRequests(t *testing.T) {
	for _, c := range []struct {
		key               KeyFunc
		remote, forwarded string
		want              string
	}{
		{RemoteAddress, "192.0.2.1:80", "", "192.0.2.1"},
		{RemoteAddress, "[2001:db8::1:2:3:4]:80", "", "2001:db8::/64"},
		{RemoteAddress, "[::ffff:192.0.2.1]:80", "", "192.0.2.1"},
		{RemoteAddress, "@", "", ""},
		{ForwardedAddress(1), "", "6.6.6.6, 192.0.2.1", "192.0.2.1"},
		{ForwardedAddress(2), "", "6.6.6.6, 192.0.2.1", "6.6.6.6"},
		{ForwardedAddress(3), "", "6.6.6.6, 192.0.2.1", ""},
		{ForwardedAddress(0), "", "192.0.2.1", ""},
		{ForwardedAddress(1), "", "[2001:db8::1]:80", "2001:db8::/64"},
		{ForwardedAddress(1), "", "192.0.2.1:8080", "192.0.2.1"},
		{ForwardedAddress(1), "", "unknown", "unknown"},
	} {
		request := httptest.NewRequest("GET", "/", nil)
		request.RemoteAddr = c.remote
		request.Header.Set("X-Forwarded-For", c.forwarded)
		if key, err := c.key(request); key != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %s, %v", c, key, err)
		}
	}
}

// The headers of several limits: those of the strictest, of the one that paid, or of the one that allows first.
func TestHeadersOfSeveral(t *testing.T) {
	request, short, few := MustPolicy("TOKEN 1m 60").Request("k"), strings.ReplaceAll(denied, "30000", "9000"), strings.Replace(allowed, "59", "7", 1)
	for _, c := range []struct {
		verb  string
		first int64
		lines []any
		want  string
	}{
		{"MULTI", 1, []any{allowed, few}, `"token-2";r=7;t=1,`},
		{"MULTI", 0, []any{allowed, denied}, `"token-2";r=0;t=30,30`},
		{"MULTI", 0, []any{short, denied}, `"token-2";r=0;t=30,30`},
		{"SHARE", 0, []any{denied, short}, `"token-2";r=0;t=9,9`},
		{"SHARE", 2, []any{denied, allowed}, `"token-2";r=59;t=1,`},
		{"MULTI", 3, []any{allowed, denied}, ","},
		{"MULTI", 1, []any{allowed}, ","},
	} {
		header := http.Header{}
		found, err := (&call{c.verb, []limit{{Request: &request}, {Request: &request}}}).decisions([]any{c.first, c.lines})
		found.WriteHeaders(header)
		if got := header.Get("RateLimit") + "," + header.Get("Retry-After"); got != c.want || (err == nil) == (c.want == ",") {
			t.Errorf("%+v: %s, %v", c, got, err)
		}
	}
}

func FuzzReply(f *testing.F) {
	for _, line := range []string{allowed, denied, "", "1 0", "-1 9223372036854775808 1 1 1 1 1 1 1 1 1 1"} {
		f.Add(line, int64(1))
	}
	request := MustPolicy("TOKEN 1m 60").Request("k")
	f.Fuzz(func(t *testing.T, line string, first int64) {
		for verb, reply := range map[string]any{"CHECK": line, "MULTI": []any{first, []any{line}}, "SHARE": []any{first, []any{line}}} {
			if found, err := (&call{verb, []limit{{Request: &request}}}).decisions(reply); err == nil {
				found.WriteHeaders(http.Header{})
			}
		}
	})
}
