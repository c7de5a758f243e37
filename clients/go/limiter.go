package redisrl

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Doer is a client of Redis or Valkey. The package page has adapters for go-redis, rueidis, valkey-go and redigo, and
// what they must not do: send a command again.
type Doer interface {
	// Do sends one command and returns its reply: int64, string, []any, or an error whose text is the server's. All args
	// are strings. It must return when its context ends, or the caller of the limiter waits for longer.
	Do(ctx context.Context, args ...any) (any, error)
}

// A Fallback is what a request gets if the server cannot decide.
type Fallback int

const (
	// Error: the error that says why.
	Error Fallback = iota
	// Allow: it is allowed, and counted by nobody.
	Allow
	// Deny: it is denied, with a RetryAfter of a second.
	Deny
)

// A Limiter decides on requests. Only Doer must be set, before the first call. It may be used by several goroutines, and
// must not be copied.
type Limiter struct {
	Doer Doer
	// Before each key.
	Prefix string
	// How long a call may take; 100 ms if 0.
	Timeout time.Duration
	// What a request gets if the server cannot decide. An error of the call itself, such as a wrong policy, is an error
	// whatever this says, and so is the end of the caller's context.
	Unavailable Fallback
	// The denials of at most so many keys are remembered; 10,000 if 0, none if negative. Until a denied request could be
	// allowed, the limiter denies by itself what costs as much or more under the same policy. One request at a time asks
	// again, after ten seconds.
	Denials int
	// Whether the module is required. If not, the Lua scripts of this package decide on a server without it.
	ModuleRequired bool
	// Where errors go, one line a second of each kind; [slog.Default] if nil.
	Logger *slog.Logger

	once     sync.Once
	link     *link
	denials  denials
	logs     onceASecond
	scripts  scripts
	counters counters
	// Errors by kind.
	errorsMu sync.Mutex
	errors   map[string]int64
}

type counters struct {
	allowed, denied, remembered, failedOpen, failedClosed, faults, unsettled, leasesLost atomic.Int64
}

// Stats is what a limiter has counted. To publish it: expvar.Publish("limits", expvar.Func(func() any { return l.Stats() })).
type Stats struct {
	// What the server decided.
	Allowed, Denied int64
	// Denied by remembered denials.
	Remembered int64
	// Requests without a decision: allowed, and denied or an error, because the server cannot decide. Alert on the first.
	FailedOpen, FailedClosed int64
	// Calls that the server rejected: the configuration is wrong. Alert on these.
	Faults int64
	// Reservations that could not be settled, and leases that ended while they were held.
	Unsettled, LeasesLost int64
	// Errors by kind: the code of the reply, or connection, timeout, canceled, circuit open.
	Errors map[string]int64
}

// Stats returns what was counted.
func (l *Limiter) Stats() Stats {
	c := &l.counters
	l.errorsMu.Lock()
	defer l.errorsMu.Unlock()
	errors := make(map[string]int64, len(l.errors))
	for kind, n := range l.errors {
		errors[kind] = n
	}
	return Stats{
		Allowed: c.allowed.Load(), Denied: c.denied.Load(), Remembered: c.remembered.Load(), FailedOpen: c.failedOpen.Load(),
		FailedClosed: c.failedClosed.Load(), Faults: c.faults.Load(), Unsettled: c.unsettled.Load(),
		LeasesLost: c.leasesLost.Load(), Errors: errors,
	}
}

// A Request asks for units of one limit.
type Request struct {
	Policy Policy
	// Whom to limit. At most 256 bytes of each part are sent: see [Bounded].
	Key string

	cost    int64
	hasCost bool
	partial bool
	id      string
	atMS    int64
}

// Request is a request of cost 1.
func (p Policy) Request(key string) Request { return Request{Policy: p, Key: key, cost: 1} }

// Cost is what the request takes, 0 or more. A cost of 0 is allowed while at least one unit is left, and charges nothing.
func (r Request) Cost(units int64) Request {
	r.cost, r.hasCost = units, true
	return r
}

// At is when the request was charged, for [Limiter.Refund] and [Limiter.Settle]: NowMS of its decision.
func (r Request) At(nowMS int64) Request {
	r.atMS = nowMS
	return r
}

func (r *Request) check() error {
	switch t := r.Policy.terms; {
	case t == nil:
		return errors.New("redisrl: the request has no policy")
	case r.Key == "":
		return errors.New("redisrl: the request has no key: callers without one would share a limit")
	case r.hasCost && !capabilities[t.algorithm].cost:
		return errors.New("redisrl: " + t.algorithm + " takes no cost")
	case r.cost < 0:
		return errors.New("redisrl: invalid cost: expected an integer of at least 0")
	}
	return nil
}

func (l *Limiter) setUp() {
	if l.Timeout <= 0 {
		l.Timeout = 100 * time.Millisecond
	}
	if l.Logger == nil {
		l.Logger = slog.Default()
	}
	l.errors = map[string]int64{}
	l.denials.most = l.Denials
	if l.Denials == 0 {
		l.denials.most = 10_000
	}
	l.link = newLink(l.Doer, l.Timeout)
}

// Allow checks a request of cost 1 and charges it if it is allowed.
func (l *Limiter) Allow(ctx context.Context, policy Policy, key string) (Decision, error) {
	return l.Check(ctx, policy.Request(key))
}

// AllowN checks a request that takes several units.
func (l *Limiter) AllowN(ctx context.Context, policy Policy, key string, cost int64) (Decision, error) {
	return l.Check(ctx, policy.Request(key).Cost(cost))
}

// AllowAtMost charges as much of a cost as fits: Charged of the decision.
func (l *Limiter) AllowAtMost(ctx context.Context, policy Policy, key string, cost int64) (Decision, error) {
	request := policy.Request(key).Cost(cost)
	if request.partial = true; policy.terms != nil && !capabilities[policy.terms.algorithm].partial {
		return Decision{}, errors.New("redisrl: " + policy.terms.algorithm + " takes no part of a cost")
	}
	return l.Check(ctx, request)
}

// Check checks a request and charges it if it is allowed.
func (l *Limiter) Check(ctx context.Context, request Request) (Decision, error) {
	if err := request.check(); err != nil {
		return Decision{}, err
	}
	if request.Policy.Algorithm() == "LEASE" {
		return Decision{}, errors.New("redisrl: use Limiter.Lease")
	}
	l.once.Do(l.setUp)
	requests, keys := [1]Request{request}, [1]string{boundedKey(l.Prefix, request.Key)}
	var sent [1]asked
	if known, ask := l.denials.recall(requests[:], keys[:], time.Now(), sent[:]); !ask {
		l.counters.remembered.Add(1)
		return known.Limits[0], nil
	}
	value, err := l.run(ctx, &invocation{verb: check, request: request, key: keys[0]})
	if err == nil {
		var decision Decision
		if decision, err = request.decision(value); err == nil {
			l.denials.learn(&requests[0], keys[0], sent[0], &decision)
			l.decided(decision.Allowed)
			return decision, nil
		}
	}
	decisions, err := l.withoutDecision(requests[:], keys[:], sent[:], err)
	if err != nil {
		return Decision{}, err
	}
	return decisions.Limits[0], nil
}

func (l *Limiter) decided(allowed bool) {
	if allowed {
		l.counters.allowed.Add(1)
	} else {
		l.counters.denied.Add(1)
	}
}

// What requests get without a decision: a remembered denial, else the fallback, and that only if the server cannot decide.
func (l *Limiter) withoutDecision(requests []Request, keys []string, sent []asked, err error) (Decisions, error) {
	for i := range requests {
		l.denials.learn(&requests[i], keys[i], sent[i], nil)
	}
	if IsUnavailable(err) {
		if known, found := l.denials.hold(requests, keys, time.Now()); found {
			l.counters.remembered.Add(1)
			return known, nil
		}
	}
	if err := l.undecided(err); err != nil {
		return Decisions{}, err
	}
	decisions := Decisions{Allowed: true}
	for i := range requests {
		decision := l.fallback(&requests[i])
		decisions.Limits = append(decisions.Limits, decision)
		decisions.Allowed = decisions.Allowed && decision.Allowed
	}
	return decisions, nil
}

func (l *Limiter) fallback(r *Request) Decision {
	d := Decision{
		Source: Unavailable, Limit: r.Policy.capacity(), NowMS: time.Now().UnixMilli(), Reset: Never, policy: r.Policy,
		Allowed: l.Unavailable == Allow || r.Policy.terms.shadow,
	}
	if !d.Allowed {
		d.RetryAfter, d.Next = time.Second, time.Second
	} else if !r.Policy.terms.shadow {
		d.Charged = r.cost
	}
	return d
}

// Counts and logs why there is no decision. The error, unless the fallback decides.
func (l *Limiter) undecided(err error) error {
	switch {
	case kind(err) == "canceled":
		return err
	case !IsUnavailable(err):
		l.counters.faults.Add(1)
		l.logs.log(l.Logger, slog.LevelError, "the call was rejected, a fault of the configuration", err)
		return err
	case l.Unavailable == Allow:
		l.counters.failedOpen.Add(1)
		l.logs.log(l.Logger, slog.LevelWarn, "no decision, failing open", err)
		return nil
	}
	l.counters.failedClosed.Add(1)
	l.logs.log(l.Logger, slog.LevelWarn, "no decision, failing closed", err)
	if l.Unavailable == Deny {
		return nil
	}
	return err
}

// Multi checks a request under several limits: if every limit allows it, every one is charged, else none is. In a cluster
// all keys must be in one slot.
func (l *Limiter) Multi(ctx context.Context, requests ...Request) (Decisions, error) {
	l.once.Do(l.setUp)
	if len(requests) == 0 {
		return Decisions{}, errors.New("redisrl: Multi has no request")
	}
	keys := make([]string, len(requests))
	for i := range requests {
		if err := requests[i].check(); err != nil {
			return Decisions{}, err
		}
		if requests[i].Policy.Algorithm() == "LEASE" {
			return Decisions{}, errors.New("redisrl: use Limiter.Reserve for limits with leases")
		}
		keys[i] = boundedKey(l.Prefix, requests[i].Key)
	}
	sent := make([]asked, len(requests))
	if known, ask := l.denials.recall(requests, keys, time.Now(), sent); !ask {
		l.counters.remembered.Add(1)
		return known, nil
	}
	value, err := l.run(ctx, &invocation{verb: multi, requests: requests, keys: keys})
	decisions, err := readDecisions(value, requests, err)
	if err != nil {
		return l.withoutDecision(requests, keys, sent, err)
	}
	for i := range requests {
		l.denials.learn(&requests[i], keys[i], sent[i], &decisions.Limits[i])
	}
	l.decided(decisions.Allowed)
	return decisions, nil
}

func readDecisions(value any, requests []Request, err error) (Decisions, error) {
	if err != nil {
		return Decisions{}, err
	}
	parts, _ := value.([]any)
	if len(parts) != 2 {
		return Decisions{}, errReply
	}
	allowed, isNumber := number(parts[0])
	lines, _ := parts[1].([]any)
	if !isNumber || len(lines) != len(requests) {
		return Decisions{}, errReply
	}
	decisions := Decisions{Allowed: allowed != 0, Limits: make([]Decision, len(lines))}
	for i, line := range lines {
		if decisions.Limits[i], err = requests[i].decision(line); err != nil {
			return Decisions{}, err
		}
	}
	return decisions, nil
}

// Peek is what the reply to a request would be. It changes nothing. With a cost of 0 it shows what is left.
func (l *Limiter) Peek(ctx context.Context, request Request) (Decision, error) {
	return l.correct(ctx, peek, request, 0)
}

// Refund gives the cost of a request back, never beyond full. The decision is that of Peek afterwards.
func (l *Limiter) Refund(ctx context.Context, request Request) (Decision, error) {
	return l.correct(ctx, refund, request, 0)
}

// Settle corrects a request that was charged its cost and turned out to cost actual: it gives the difference back, or
// charges it whatever the limit says.
func (l *Limiter) Settle(ctx context.Context, request Request, actual int64) (Decision, error) {
	if actual < 0 {
		return Decision{}, errors.New("redisrl: invalid actual cost: expected an integer of at least 0")
	}
	return l.correct(ctx, settle, request, actual)
}

func (l *Limiter) correct(ctx context.Context, verb verb, r Request, actual int64) (Decision, error) {
	if err := r.check(); err != nil {
		return Decision{}, err
	}
	l.once.Do(l.setUp)
	key := boundedKey(l.Prefix, r.Key)
	value, err := l.run(ctx, &invocation{verb: verb, request: r, key: key, actual: actual})
	if verb != peek {
		l.denials.forget(&r, key)
	}
	if err != nil {
		return Decision{}, err
	}
	return r.decision(value)
}

// Reset deletes what is known of a key. Reports whether there was anything.
func (l *Limiter) Reset(ctx context.Context, policy Policy, key string) (bool, error) {
	r := policy.Request(key)
	if err := r.check(); err != nil {
		return false, err
	}
	l.once.Do(l.setUp)
	key = boundedKey(l.Prefix, key)
	value, err := l.run(ctx, &invocation{verb: reset, request: r, key: key})
	l.denials.forget(&r, key)
	if err != nil {
		return false, err
	}
	n, isNumber := number(value)
	if !isNumber {
		return false, errReply
	}
	return n != 0, nil
}

type verb int

const (
	check verb = iota
	multi
	peek
	refund
	settle
	reset
	reserve
	plain // words as they are
)

// What is sent to the server.
type invocation struct {
	verb        verb
	request     Request
	key         string
	actual      int64
	requests    []Request
	keys        []string
	words       []any
	reservation *Reservation
	// How long it may take; the limiter's timeout if 0.
	timeout time.Duration
}

// The command of the module.
func (c *invocation) native(out []any) []any {
	switch c.verb {
	case plain:
		return append(out, c.words...)
	case reserve:
		return c.reservation.words(out)
	case multi:
		out = append(out, "RL.MULTI", strconv.Itoa(len(c.requests)))
		for i := range c.requests {
			r := &c.requests[i]
			out = r.options(append(append(out, r.Policy.terms.algorithm, c.keys[i]), r.Policy.terms.args...))
		}
		return append(out, "LINE")
	case check:
		t := c.request.Policy.terms
		out = append(append(out, t.command, c.key), t.args...)
		return append(c.request.options(out), "LINE")
	}
	t := c.request.Policy.terms
	out = append(out, verbs[c.verb], t.algorithm, c.key, t.args[0])
	if c.verb == reset {
		return appendOption(out, t, "ANCHOR")
	}
	if out = append(out, t.args[1]); c.verb == peek {
		out = append(out, t.args[2:]...)
	} else {
		for _, name := range []string{"BURST", "BLOCK", "MAX", "ANCHOR"} {
			out = appendOption(out, t, name)
		}
	}
	if c.verb == settle {
		out = append(out, "RESERVED", strconv.FormatInt(c.request.cost, 10), "ACTUAL", strconv.FormatInt(c.actual, 10))
	} else {
		out = c.request.options(out)
	}
	if c.request.atMS > 0 && c.verb != peek {
		out = append(out, "AT", strconv.FormatInt(c.request.atMS, 10))
	}
	return append(out, "LINE")
}

var verbs = map[verb]string{peek: "RL.PEEK", refund: "RL.REFUND", settle: "RL.SETTLE", reset: "RL.RESET"}

func appendOption(out []any, t *terms, name string) []any {
	// SHADOW, which has no value, comes last.
	for i := 2; i+1 < len(t.args); i += 2 {
		if t.args[i] == name {
			return append(out, t.args[i], t.args[i+1])
		}
	}
	return out
}

func (r *Request) options(out []any) []any {
	if r.cost != 1 || r.hasCost {
		out = append(out, "COST", strconv.FormatInt(r.cost, 10))
	}
	if r.partial {
		out = append(out, "PARTIAL")
	}
	return out
}

// Sends it to the module or, on a server without it, to the scripts. An error is counted.
func (l *Limiter) run(ctx context.Context, c *invocation) (any, error) {
	value, err := l.scripts.run(ctx, l, c)
	if err != nil {
		l.errorsMu.Lock()
		l.errors[kind(err)]++
		l.errorsMu.Unlock()
	}
	return value, err
}

// Whether a server says that it has no such command of the module.
func isUnknownCommand(err error) bool {
	found := unknownCommand.FindStringSubmatch(err.Error())
	return found != nil && (found[1] != "" || strings.EqualFold(strings.TrimSpace(err.Error()), "ERR unknown command"))
}
