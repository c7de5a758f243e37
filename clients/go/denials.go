package redisrl

import (
	"sync"
	"time"
)

const (
	// The longest time for which a denial is remembered: the limits of the server itself may change, for example by
	// rl.shadow.
	longestDenial = time.Minute
	// After how long one request at a time asks again.
	recheckAfter = 10 * time.Second
)

// Denials of the server that are remembered, so that the same request is not sent again. A denial says when the same
// request would be allowed, exactly. The server decided after the request was sent, so that time begins, at the earliest,
// when it was sent; retry_after_ms is rounded up, so a millisecond is taken off. What is left never denies what the server
// would allow to a client that is alone.
type denials struct {
	mu   sync.Mutex
	most int
	all  map[denialKey]*denial
	// How often units were given back: a denial that was asked for before says nothing any more.
	given int
}

type denialKey struct{ policy, key string }

type denial struct {
	decision Decision
	// Every cost from this one on is denied.
	cost        int64
	sent, until time.Time
	isAsked     bool
}

// What was known when a request was sent: how often units had been given back, and the denial that it asks about.
type asked struct {
	at    time.Time
	given int
	about *denial
}

func (r *Request) leastCost() int64 {
	if r.partial {
		return min(r.cost, 1)
	}
	return r.cost
}

// What is known of requests that are decided together: if one is denied, all are. Else they are sent: ok is true.
func (d *denials) recall(requests []Request, keys []string, now time.Time, out []asked) (known Decisions, ok bool) {
	if d.most <= 0 {
		return Decisions{}, true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	// All of them are asked about, or none.
	ok = true
	for i := range requests {
		found := d.find(&requests[i], keys[i], now)
		out[i] = asked{now, d.given, found}
		ok = ok && (found == nil || !found.isAsked && now.Sub(found.sent) >= recheckAfter)
	}
	if ok {
		for _, asked := range out {
			if asked.about != nil {
				asked.about.isAsked = true
			}
		}
		return Decisions{}, true
	}
	return later(requests, out, now), false
}

// The decisions of the denials that were found.
func later(requests []Request, found []asked, now time.Time) Decisions {
	decisions := Decisions{Limits: make([]Decision, len(requests))}
	for i := range requests {
		if about := found[i].about; about != nil {
			decisions.Limits[i] = about.later(now)
		} else {
			decisions.Limits[i] = Decision{Allowed: true, Source: Unchecked, policy: requests[i].Policy}
		}
	}
	return decisions
}

// What denies requests that the server cannot decide, whether it is to be asked about again or not.
func (d *denials) hold(requests []Request, keys []string, now time.Time) (Decisions, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found, any := make([]asked, len(requests)), false
	for i := range requests {
		found[i].about = d.find(&requests[i], keys[i], now)
		any = any || found[i].about != nil
	}
	if !any {
		return Decisions{}, false
	}
	return later(requests, found, now), true
}

// A denial that denies a request now. The lock is held.
func (d *denials) find(r *Request, key string, now time.Time) *denial {
	found := d.all[denialKey{r.Policy.terms.text, key}]
	if found == nil || !now.Before(found.until) || r.leastCost() < found.cost {
		return nil
	}
	return found
}

// Takes a decision of the server in, or that there is none.
func (d *denials) learn(r *Request, key string, asked asked, decision *Decision) {
	if asked.about == nil && (decision == nil || decision.Allowed) || d.most <= 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if asked.about != nil {
		asked.about.isAsked = false
	}
	name := denialKey{r.Policy.terms.text, key}
	switch {
	case decision == nil:
	case decision.Allowed:
		if d.all[name] == asked.about {
			delete(d.all, name)
		}
	case d.given == asked.given && capabilities[r.Policy.terms.algorithm].remembered:
		wait := longestDenial
		if decision.RetryAfter != Never {
			wait = min(decision.RetryAfter-time.Millisecond, longestDenial)
		}
		if wait <= 0 {
			return
		}
		if d.all == nil {
			d.all = map[denialKey]*denial{}
		}
		if d.all[name] == nil && len(d.all) >= d.most {
			d.makePlace(asked.at)
		}
		remembered := &denial{decision: *decision, cost: r.leastCost(), sent: asked.at, until: asked.at.Add(wait)}
		remembered.decision.Charged, remembered.decision.Source = 0, Remembered
		d.all[name] = remembered
	}
}

// Forgets a denial that is over, else any: a map is read in a random order.
func (d *denials) makePlace(now time.Time) {
	seen := 0
	for name, each := range d.all {
		if seen++; seen == min(8, len(d.all)) || !now.Before(each.until) {
			delete(d.all, name)
			return
		}
	}
}

// Forgets what is known of a key, because units were given back.
func (d *denials) forget(r *Request, key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.given++
	delete(d.all, denialKey{r.Policy.terms.text, key})
}

// The decision as it is some time later.
func (d *denial) later(now time.Time) Decision {
	decision, passed := d.decision, now.Sub(d.sent)
	less := func(left time.Duration) time.Duration {
		if left == Never {
			return Never
		}
		return max(left-passed, 0)
	}
	decision.RetryAfter, decision.Next, decision.Reset = less(decision.RetryAfter), less(decision.Next), less(decision.Reset)
	decision.NowMS += passed.Milliseconds()
	return decision
}
