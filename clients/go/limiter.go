package redisrl

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// Doer is a client of Redis or Valkey. The package page has adapters for redigo, go-redis, rueidis and valkey-go, and
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
	// Deny: it is denied, with a RetryAfter of a second. A policy in shadow mode allows it.
	Deny
	// Local: this process allows at most limit / Instances, at least 1, in a window and for a key. LEASE and LOCKOUT are
	// denied, and so is a new key while 10,000 are counted.
	Local
)

// A Limiter decides on requests. Only Doer must be set, before the first call. It may be used by several goroutines, and
// must not be copied.
type Limiter struct {
	Doer Doer
	// What the keys begin with, such as app:. In a cluster {app}:, so that several limits of one call are in one slot.
	Prefix string
	// If given, the keys have an HMAC of the caller instead of the caller. All processes need the same secret.
	Secret string
	// How long a call may take; 100 ms if 0.
	Timeout time.Duration
	// What a request gets if the server cannot decide. An error of the call itself, such as a wrong policy, is an error
	// whatever this says, and so is the end of the caller's context.
	Unavailable Fallback
	// With [Local]: how many processes share each limit.
	Instances int64
	// Whether the module is required. If not, the Lua scripts of this package decide on a server without it.
	ModuleRequired bool
	// Where errors go, one line a second of each kind; [slog.Default] if nil.
	Logger *slog.Logger

	once    sync.Once
	wrong   error // what is wrong with these fields
	began   time.Time
	mu      sync.Mutex // of the breaker and the stats
	breaker breaker
	local   local
	logs    onceASecond
	stats   Stats
	// Until when the scripts decide without looking for the module, since it began.
	scriptsUntil atomic.Int64
	// Whether the scripts decided last, and whether the server could not.
	scriptsDecide, isAway atomic.Bool
}

// Stats is what a limiter has counted. To publish it: expvar.Publish("limits", expvar.Func(func() any { return l.Stats() })).
type Stats struct {
	// What the server decided.
	Allowed, Denied int64
	// What the limit of this process decided, because the server cannot.
	Local int64
	// Requests without a decision: allowed, and denied or an error, because the server cannot decide. Alert on the first.
	FailedOpen, FailedClosed int64
	// Calls that the server rejected: the configuration is wrong. Alert on these.
	Faults int64
	// Errors by kind: the code of the reply, or connection, timeout, canceled, pool, circuit open.
	Errors map[string]int64
}

// Stats returns what was counted.
func (l *Limiter) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	stats := l.stats
	stats.Errors = maps.Clone(stats.Errors)
	return stats
}

// Counts, in a field of the stats.
func (l *Limiter) count(n *int64) {
	l.mu.Lock()
	*n++
	l.mu.Unlock()
}

// Whether the fields are right.
func (l *Limiter) setUp() error {
	l.once.Do(func() {
		if l.Timeout <= 0 {
			l.Timeout = 100 * time.Millisecond
		}
		if l.Logger == nil {
			l.Logger = slog.Default()
		}
		l.began, l.stats.Errors, l.breaker.timeout = time.Now(), map[string]int64{}, l.Timeout
		l.logs.seen = map[string]logged{}
		l.local = local{instances: l.Instances, counts: map[string]count{}}
		switch {
		case l.Doer == nil:
			l.wrong = invalid("Doer: expected a client")
		case len(l.Prefix) > longestValue:
			l.wrong = invalid("Prefix: expected at most 256 bytes")
		case l.Unavailable < Error || l.Unavailable > Local:
			l.wrong = invalid("Unavailable: expected Error, Allow, Deny or Local")
		case l.Unavailable == Local && l.Instances < 1:
			l.wrong = invalid("Instances: expected how many processes share the limits, with Local")
		}
	})
	return l.wrong
}

// Allow checks a request of cost 1 and charges it if it is allowed.
func (l *Limiter) Allow(ctx context.Context, policy Policy, key string) (Decision, error) {
	return l.Check(ctx, policy.Request(key))
}

// AllowN checks a request that takes several units.
func (l *Limiter) AllowN(ctx context.Context, policy Policy, key string, cost int64) (Decision, error) {
	return l.Check(ctx, policy.Request(key).Cost(cost))
}

// Check checks a request and charges it if it is allowed.
func (l *Limiter) Check(ctx context.Context, request Request) (Decision, error) {
	return one(l.decide(ctx, "CHECK", request))
}

// Peek is what the reply to a request would be. It changes nothing. With a cost of 0 it shows what is left.
func (l *Limiter) Peek(ctx context.Context, request Request) (Decision, error) {
	return one(l.decide(ctx, "PEEK", request))
}

// Refund gives the cost of a request back, never beyond full. The decision is that of Peek afterwards.
func (l *Limiter) Refund(ctx context.Context, request Request) (Decision, error) {
	return one(l.decide(ctx, "REFUND", request))
}

// Multi checks a request under several limits, 64 at most: if every limit allows it, every one is charged, else none is.
// In a cluster all keys must be in one slot: see Prefix.
func (l *Limiter) Multi(ctx context.Context, requests ...Request) (Decisions, error) {
	if len(requests) < 1 || len(requests) > 64 {
		return Decisions{}, invalid("Multi: expected 1 to 64 requests")
	}
	return l.decide(ctx, "MULTI", requests...)
}

// Share checks a request under a part of its own and what others leave of the whole: 2 to 8 limits, from the narrowest to
// the widest. The first that allows it pays: it is charged, and so is each one after it, whatever it says. The command
// reference has the rule at RL.SHARE.
func (l *Limiter) Share(ctx context.Context, requests ...Request) (Decisions, error) {
	if len(requests) < 2 || len(requests) > 8 {
		return Decisions{}, invalid("Share: expected 2 to 8 requests")
	}
	return l.decide(ctx, "SHARE", requests...)
}

// Wait waits until a request of cost 1 is allowed, and charges it. The error says that ctx has ended, or would end before
// that, that the limit never allows it, or why there is no decision.
func (l *Limiter) Wait(ctx context.Context, policy Policy, key string) error {
	return l.WaitN(ctx, policy, key, 1)
}

// WaitN is Wait for a request that takes several units.
func (l *Limiter) WaitN(ctx context.Context, policy Policy, key string, cost int64) error {
	for {
		decision, err := l.AllowN(ctx, policy, key, cost)
		if err != nil {
			return err
		}
		wait := decision.Delay
		if !decision.Allowed {
			if wait = decision.RetryAfter; wait == Never {
				return invalid("the limit never allows this cost")
			}
			wait = max(wait, time.Millisecond)
		}
		if end, isLimited := ctx.Deadline(); isLimited && time.Until(end) < wait {
			return fmt.Errorf("redisrl: allowed in %v, after the deadline of the context: %w", wait, context.DeadlineExceeded)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		if decision.Allowed {
			return nil
		}
	}
}

// Settle corrects a request that was charged its cost and turned out to cost actual: it gives the difference back, or
// charges it whatever the limit says. A reservation is settled once, by its id.
func (l *Limiter) Settle(ctx context.Context, request Request, actual int64) (Decision, error) {
	if actual < 0 {
		return Decision{}, invalid("invalid actual cost: expected an integer of at least 0")
	}
	request.actual = actual
	reply, c, err := l.ask(ctx, "SETTLE", request)
	if err != nil {
		return Decision{}, err
	}
	return one(c.decisions(reply))
}

// Reset deletes what is known of a key. Reports whether there was anything.
func (l *Limiter) Reset(ctx context.Context, policy Policy, key string) (bool, error) {
	return l.yes(ctx, "RESET", policy.Request(key))
}

// A Holder holds a lease until it releases it, or until the window of the policy ends. Nothing renews it by itself.
type Holder struct {
	// Who it is for the server.
	ID string
	// Whether there was a place. If not, there is nothing to renew or release.
	Decision

	limiter *Limiter
	request Request
}

// Lease takes a place under a concurrency limit, if one is free: see Allowed.
func (l *Limiter) Lease(ctx context.Context, policy Policy, key string) (*Holder, error) {
	id := newID()
	h := &Holder{ID: id, limiter: l, request: policy.Request(key).ID(id)}
	var err error
	if h.Decision, err = l.Check(ctx, h.request); err != nil {
		return nil, err
	}
	return h, nil
}

// Renew lets the lease end one window from now. False if it has ended: another holder may have been allowed.
func (h *Holder) Renew(ctx context.Context) (bool, error) {
	return h.limiter.yes(ctx, "RENEW", h.request)
}

// Release gives the place back, though ctx may have ended. False if the lease has ended.
func (h *Holder) Release(ctx context.Context) (bool, error) {
	return h.limiter.yes(context.WithoutCancel(ctx), "RELEASE", h.request)
}

// The reply of a call that nothing stands in for: whether there was anything.
func (l *Limiter) yes(ctx context.Context, verb string, request Request) (bool, error) {
	reply, _, err := l.ask(ctx, verb, request)
	if err != nil {
		return false, err
	}
	n, isNumber := reply.(int64)
	if !isNumber {
		return false, errReply
	}
	return n != 0, nil
}

func one(all Decisions, err error) (Decision, error) {
	if err != nil {
		return Decision{}, err
	}
	return all.Limits[0], nil
}

// Sends a call. c is nil if it is wrong.
func (l *Limiter) ask(ctx context.Context, verb string, requests ...Request) (reply any, c *call, err error) {
	if err := l.setUp(); err != nil {
		return nil, nil, err
	}
	c = &call{verb, make([]limit, len(requests))}
	for i := range requests {
		r := &requests[i]
		if err := r.check(verb); err != nil {
			return nil, nil, err
		}
		c.limits[i] = limit{r, keyOf(l.Prefix, r.Policy.name, r.Key, l.Secret), r.words(verb)}
	}
	reply, err = l.send(ctx, c)
	return reply, c, err
}

// The decision of the server or, where it cannot decide, of what Unavailable says.
func (l *Limiter) decide(ctx context.Context, verb string, requests ...Request) (Decisions, error) {
	reply, c, err := l.ask(ctx, verb, requests...)
	if c == nil {
		l.rejected(err)
		return Decisions{}, err
	}
	var decisions Decisions
	if err == nil {
		if decisions, err = c.decisions(reply); err != nil {
			l.counted(err)
		}
	}
	if err != nil {
		return l.withoutServer(err, c)
	}
	if l.isAway.Load() && l.isAway.Swap(false) {
		l.line("the server decides again")
	}
	switch {
	case verb == "PEEK" || verb == "REFUND":
	case decisions.Allowed:
		l.count(&l.stats.Allowed)
	default:
		l.count(&l.stats.Denied)
	}
	return decisions, nil
}

func (l *Limiter) withoutServer(err error, c *call) (Decisions, error) {
	switch {
	case kind(err) == "canceled":
		return Decisions{}, err
	case !IsUnavailable(err):
		l.rejected(err)
		return Decisions{}, err
	}
	l.isAway.Store(true)
	switch {
	case l.Unavailable == Local:
		if c.verb != "REFUND" {
			l.count(&l.stats.Local)
		}
		l.logs.log(l.Logger, slog.LevelWarn, "no decision, the limit of this process decides", err)
		return l.local.decide(c, l.now()), nil
	case c.verb == "REFUND": // nothing stands in for it
		return Decisions{}, err
	case l.Unavailable == Allow:
		l.count(&l.stats.FailedOpen)
		l.logs.log(l.Logger, slog.LevelWarn, "no decision, failing open", err)
	default:
		l.count(&l.stats.FailedClosed)
		l.logs.log(l.Logger, slog.LevelWarn, "no decision, failing closed", err)
	}
	if l.Unavailable == Error {
		return Decisions{}, err
	}
	first, limits := int64(1), make([]Decision, len(c.limits))
	for i := range limits {
		p := c.limits[i].Policy
		limits[i] = Decision{
			Allowed: l.Unavailable == Allow || p.shadow, Limit: p.limit, NowMS: time.Now().UnixMilli(), Next: Never,
			Reset: Never, Source: Unavailable, Policy: p,
		}
		if !limits[i].Allowed {
			first, limits[i].RetryAfter = 0, time.Second
		}
	}
	return decisions(c, first, limits), nil
}

// Counts and logs an error about a request, which is never allowed.
func (l *Limiter) rejected(err error) {
	l.count(&l.stats.Faults)
	l.logs.log(l.Logger, slog.LevelError, "the call was rejected, a fault of the configuration", err)
}
