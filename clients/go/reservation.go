package redisrl

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

const (
	// The pause before a settlement is sent again that had no reply, and the longest.
	settleAgain   = 50 * time.Millisecond
	longestPause  = 5 * time.Second
	longestID     = 128
	renewals      = 3  // a lease is renewed after a third of its window
	renewalsAgain = 10 // after a tenth, where a renewal failed
)

// A Reservation is an estimate that is charged once and settled once: by Settle, Cancel or Close, or when its context
// ends. If its process dies, it comes back by itself after its ttl. Leases among its limits are held, and renewed by a
// goroutine, until then.
type Reservation struct {
	// Who it is for the server. It may be settled by another process under this id.
	ID string
	// Whether every limit allows it. If not, nothing is charged and there is nothing to settle.
	Allowed bool
	// What each limit replies: whether it allows it, what it counts, and a time in seconds. Empty without a decision.
	Limits [][3]int64
	// The headers of the HTTP response.
	Headers map[string]string

	limiter  *Limiter
	requests []Request
	keys     []string
	ttl      time.Duration
	isNew    bool
	over     chan struct{}
	release  func() bool

	mu       sync.Mutex
	used     map[string]int64
	reported bool
	called   bool
	settled  bool
	lost     bool
	told     bool
	failed   error // why a lease was not renewed last
	leases   []*lease
}

type lease struct {
	at   int
	ends time.Time
	// Whether this reservation took it: shadow mode allows what is above the limit, and takes none.
	isHeld bool
}

// Reserve charges the costs of all requests, or of none, under a new id. A limit without [Request.Cost] counts the request
// itself. The policies are FIXED, WINDOW, COUNTER, ROLLING and LEASE; ttl is whole milliseconds. When ctx ends, the
// reservation is settled with what was reported, else with the estimate.
func (l *Limiter) Reserve(ctx context.Context, ttl time.Duration, requests ...Request) (*Reservation, error) {
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	return l.reserve(ctx, fmt.Sprintf("%x", id), true, ttl, requests)
}

// ReserveID is Reserve with an id of the caller's own, 1 to 128 bytes, never one that the limited party chooses: who
// repeats an open id is charged nothing more.
func (l *Limiter) ReserveID(ctx context.Context, id string, ttl time.Duration, requests ...Request) (*Reservation, error) {
	return l.reserve(ctx, id, false, ttl, requests)
}

// Lease takes a place under a concurrency limit, if one is free: see Allowed. It is renewed until ctx ends, or Close is
// called.
func (l *Limiter) Lease(ctx context.Context, policy Policy, key string) (*Reservation, error) {
	if policy.terms == nil || policy.terms.algorithm != "LEASE" {
		return nil, errors.New("redisrl: Lease needs a policy of LEASE")
	}
	return l.Reserve(ctx, time.Minute, policy.Request(key))
}

func (l *Limiter) reserve(ctx context.Context, id string, isNew bool, ttl time.Duration, requests []Request) (*Reservation, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(id) < 1 || len(id) > longestID {
		return nil, fmt.Errorf("redisrl: invalid id: expected 1 to %d bytes", longestID)
	}
	if ttl < millisecond || ttl%millisecond != 0 {
		return nil, errors.New("redisrl: invalid ttl: expected a positive integer of milliseconds")
	}
	if len(requests) == 0 {
		return nil, errors.New("redisrl: expected at least one request")
	}
	l.once.Do(l.setUp)
	r := &Reservation{ID: id, isNew: isNew, limiter: l, requests: requests, ttl: ttl, over: make(chan struct{})}
	for i := range requests {
		if err := requests[i].check(); err != nil {
			return nil, err
		}
		t := requests[i].Policy.terms
		if t.algorithm == "LEASE" {
			r.leases = append(r.leases, &lease{at: i})
		} else if !capabilities[t.algorithm].reserve {
			return nil, errors.New("redisrl: " + t.algorithm + " takes no reservation; expected FIXED, WINDOW, COUNTER, ROLLING or LEASE")
		}
		r.keys = append(r.keys, boundedKey(l.Prefix, requests[i].Key))
	}
	sent := time.Now()
	value, err := l.run(ctx, &invocation{verb: reserve, reservation: r})
	if err == nil {
		err = r.read(value)
	}
	if err != nil {
		if err = r.withoutDecision(err); err != nil {
			return nil, err
		}
	} else {
		l.decided(r.Allowed)
	}
	r.called = true
	if r.settled = r.settled || !r.Allowed; r.settled {
		return r, nil
	}
	for _, lease := range r.leases {
		lease.ends = sent.Add(r.window(lease))
		lease.isHeld = len(r.Limits) > 0 && r.Limits[lease.at][1] < requests[lease.at].Policy.Limit()
	}
	if len(r.leases) > 0 {
		go r.renew()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.release = context.AfterFunc(ctx, r.Close)
	return r, nil
}

func (r *Reservation) window(lease *lease) time.Duration {
	return time.Duration(r.requests[lease.at].Policy.terms.windowMS) * millisecond
}

// The command that reserves.
func (r *Reservation) words(out []any) []any {
	out = append(out, "RL.MULTI", fmt.Sprint(len(r.requests)))
	for i := range r.requests {
		request := &r.requests[i]
		t := request.Policy.terms
		out = append(append(out, t.algorithm, r.keys[i]), t.args...)
		if t.algorithm == "LEASE" {
			out = append(out, "ID", r.ID)
		} else {
			out = append(request.options(out), "RESERVE", r.ID, fmt.Sprintf("%dms", r.ttl.Milliseconds()))
		}
	}
	return append(out, "HEADERS")
}

func (r *Reservation) read(value any) error {
	parts, _ := value.([]any)
	if len(parts) != 3 {
		return errReply
	}
	allowed, isNumber := number(parts[0])
	limits, _ := parts[1].([]any)
	headers, _ := parts[2].([]any)
	if !isNumber || len(limits) != len(r.requests) || len(headers)%2 != 0 {
		return errReply
	}
	r.Allowed, r.Headers = allowed != 0, map[string]string{}
	for _, limit := range limits {
		words, _ := limit.([]any)
		if len(words) < 3 {
			return errReply
		}
		var each [3]int64
		for i := range each {
			if each[i], isNumber = number(words[i]); !isNumber {
				return errReply
			}
		}
		r.Limits = append(r.Limits, each)
	}
	for i := 0; i < len(headers); i += 2 {
		name, _ := text(headers[i])
		value, isText := text(headers[i+1])
		if !isText {
			return errReply
		}
		r.Headers[name] = value
	}
	return nil
}

// There is no decision. The server may have charged it after all.
func (r *Reservation) withoutDecision(err error) error {
	failed := r.limiter.undecided(err)
	// What was not sent is not charged; but an earlier call with a given id may have been.
	r.settled = r.isNew && errors.Is(err, ErrCircuitOpen)
	r.Allowed = r.limiter.Unavailable == Allow
	if r.isNew && (failed != nil || !r.Allowed) && (IsUnavailable(err) || kind(err) == "canceled") {
		r.Close()
	}
	return failed
}

// Called says whether the work was done: if not, and nothing was reported, nothing is charged.
func (r *Reservation) Called(called bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.called = called
}

// Report says what was used so far, of every limit with a cost. Settle and Close charge it.
func (r *Reservation) Report(used int64) error {
	all := map[string]int64{}
	for i := range r.requests {
		if r.requests[i].hasCost {
			all[r.requests[i].Key] = used
		}
	}
	return r.report(used, all, true)
}

// ReportKey is Report for the limits of one key.
func (r *Reservation) ReportKey(key string, used int64) error {
	for i := range r.requests {
		if r.requests[i].hasCost && r.requests[i].Key == key {
			return r.report(used, map[string]int64{key: used}, false)
		}
	}
	return errors.New("redisrl: invalid used: expected keys of limits with COST")
}

func (r *Reservation) report(used int64, each map[string]int64, anew bool) error {
	if used < 0 {
		return errors.New("redisrl: invalid used: expected an integer of at least 0")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if anew || r.used == nil {
		r.used = map[string]int64{}
	}
	for key, used := range each {
		r.used[key] = used
	}
	r.reported = true
	return nil
}

// Settle charges what was used, of every limit with a cost. It is sent again while the server does not reply; the error
// says that it could not be settled. Only the first of Settle, Cancel and Close settles.
func (r *Reservation) Settle(ctx context.Context, used int64) error {
	if err := r.Report(used); err != nil {
		return err
	}
	return r.send(ctx, r.settlement())
}

// Cancel charges nothing.
func (r *Reservation) Cancel(ctx context.Context) error {
	r.mu.Lock()
	r.reported, r.called = false, false
	r.mu.Unlock()
	return r.send(ctx, r.settlement())
}

// Close settles in the background with what was reported, else with the estimate. The log has the error.
func (r *Reservation) Close() {
	calls := r.settlement()
	go func() { _ = r.send(context.Background(), calls) }()
}

// IsLost reports whether another holder may have been allowed since a lease was taken.
func (r *Reservation) IsLost() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.isLost(time.Now())
}

// The lock is held. The first time it is counted.
func (r *Reservation) isLost(now time.Time) bool {
	for _, lease := range r.leases {
		r.lost = r.lost || !r.settled && lease.isHeld && !now.Before(lease.ends)
	}
	if r.lost && !r.told {
		r.told = true
		r.limiter.counters.leasesLost.Add(1)
		r.limiter.logs.log(r.limiter.Logger, slog.LevelError, "a lease is lost", errors.Join(ErrLeaseLost, r.failed))
	}
	return r.lost
}

// What settles it, the first time; nothing after that. The leases come first, since others wait for them.
func (r *Reservation) settlement() [][]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isLost(time.Now()); r.settled {
		return nil
	}
	r.settled = true
	close(r.over)
	if r.release != nil {
		r.release()
	}
	var calls [][]any
	for _, lease := range r.leases {
		calls = append(calls, []any{"RL.RELEASE", r.keys[lease.at], r.ID})
	}
	for i := range r.requests {
		request := &r.requests[i]
		t := request.Policy.terms
		if t.algorithm == "LEASE" {
			continue
		}
		actual := int64(1) // a limit without a cost counts the request itself
		if request.hasCost {
			actual = request.cost
			if used, found := r.used[request.Key]; found {
				actual = used
			}
		}
		if !r.called && !r.reported {
			actual = 0
		}
		call := []any{"RL.SETTLE", t.algorithm, r.keys[i], t.args[0], t.args[1], "RESERVATION", r.ID, "ACTUAL", fmt.Sprint(actual)}
		calls = append(calls, appendOption(call, t, "ANCHOR"))
	}
	return calls
}

// Sends a settlement, again and again while the server does not reply and the reservation can be settled: for one more ttl
// after its end.
func (r *Reservation) send(ctx context.Context, calls [][]any) error {
	until := time.Now().Add(2 * r.ttl)
	for pause := settleAgain; len(calls) > 0; pause = min(2*pause, longestPause) {
		var again, failed error
		for _, call := range calls {
			// It is settled though the caller has left.
			if _, err := r.limiter.run(context.WithoutCancel(ctx), &invocation{verb: plain, words: call}); err != nil {
				if failed = err; IsUnavailable(err) {
					again = err
				}
			}
		}
		if failed == nil {
			return nil
		}
		if again == nil || !time.Now().Add(pause).Before(until) {
			r.limiter.counters.unsettled.Add(1)
			if !IsUnavailable(failed) {
				r.limiter.counters.faults.Add(1)
			}
			r.limiter.logs.log(r.limiter.Logger, slog.LevelError, "not settled", failed)
			return failed
		}
		r.limiter.logs.log(r.limiter.Logger, slog.LevelWarn, "settling again", again)
		time.Sleep(pause)
	}
	return nil
}

// Renews the leases until they are released or lost.
func (r *Reservation) renew() {
	for part := time.Duration(renewals); ; {
		r.mu.Lock()
		now, pause := time.Now(), never
		for _, lease := range r.leases {
			pause = min(pause, min(r.window(lease)/part, lease.ends.Sub(now)))
		}
		isOver := r.settled || len(r.leases) == 0 || r.isLost(now)
		r.mu.Unlock()
		if isOver {
			return
		}
		select {
		case <-r.over:
			return
		case <-time.After(max(pause, millisecond)):
		}
		r.mu.Lock()
		sent := time.Now()
		// A lease that was perhaps never taken has ended by then.
		kept := r.leases[:0:0]
		for _, lease := range r.leases {
			if lease.isHeld || sent.Before(lease.ends) {
				kept = append(kept, lease)
			}
		}
		r.leases, part = kept, renewals
		isOver = r.settled || r.isLost(sent)
		r.mu.Unlock()
		if isOver {
			return
		}
		for _, lease := range kept {
			if r.renewOne(lease, sent) != nil {
				part = renewalsAgain
			}
		}
	}
}

func (r *Reservation) renewOne(lease *lease, sent time.Time) error {
	t := r.requests[lease.at].Policy.terms
	words := []any{"RL.RENEW", r.keys[lease.at], t.args[0], r.ID}
	timeout := min(r.limiter.Timeout, max(lease.ends.Sub(sent), millisecond))
	value, err := r.limiter.run(context.Background(), &invocation{verb: plain, words: words, timeout: timeout})
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.failed = err
		if IsUnavailable(err) {
			r.limiter.logs.log(r.limiter.Logger, slog.LevelWarn, "renewing again", err)
		} else {
			r.limiter.counters.faults.Add(1)
			r.limiter.logs.log(r.limiter.Logger, slog.LevelError, "a renewal was rejected, a fault of the configuration", err)
		}
		return err
	}
	switch n, _ := number(value); {
	case n != 0:
		lease.ends, lease.isHeld = sent.Add(r.window(lease)), true
	case lease.isHeld && !r.settled:
		r.lost = true
	default: // it was never taken
		lease.ends = sent
	}
	return nil
}
