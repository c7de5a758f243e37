package redisrl

import (
	"math"
	"sync"
	"time"
)

const mostKeys = 10_000

// The limit of this process while the server cannot decide: a plain counter for each key. Time is an argument, since the
// limiter began.
type local struct {
	mu        sync.Mutex
	instances int64 // how many processes share each limit
	counts    map[string]count
	// Until then a full table stays full.
	fullUntil time.Duration
}

// The units of a key, and when its window ends.
type count struct {
	used int64
	end  time.Duration
}

// The decisions on a call. A refund gives back what was counted here.
func (l *local) decide(c *call, now time.Duration) Decisions {
	l.mu.Lock()
	defer l.mu.Unlock()
	if found, isCounted := l.counts[c.limits[0].key]; isCounted && c.verb == "REFUND" {
		found.used = max(found.used-c.limits[0].cost, 0)
		l.counts[c.limits[0].key] = found
	}
	limits, payer, all := make([]Decision, len(c.limits)), 0, 1
	for i := range c.limits {
		if limits[i] = l.look(&c.limits[i], now); !limits[i].Allowed {
			all = 0
		} else if payer == 0 {
			payer = i + 1
		}
	}
	if c.verb != "SHARE" {
		payer = all
	}
	for i := range limits {
		d, asked := &limits[i], &c.limits[i]
		_, isCounted := l.counts[asked.key]
		switch {
		case payer == 0 || i+1 < payer || c.verb == "PEEK" || c.verb == "REFUND":
		case d.Shadow && (c.verb != "SHARE" || i+1 == payer): // it counts what it would allow
		case isCounted || d.Allowed: // of RL.SHARE also what is wider than the payer, whatever it says
			d.Charged, d.Remaining = asked.cost, max(d.Remaining-asked.cost, 0)
			l.counts[asked.key] = count{d.Count + min(asked.cost, math.MaxInt64-d.Count), now + d.Reset}
		}
	}
	return decisions(c, int64(payer), limits)
}

// The decision, with nothing charged.
func (l *local) look(asked *limit, now time.Duration) Decision {
	p := asked.Policy
	most := min(p.limit, max(1, p.limit/l.instances))
	found, isCounted := l.counts[asked.key]
	if !isCounted || found.end <= now {
		delete(l.counts, asked.key)
		isCounted, found = false, count{end: now + wait(p.windowAt(time.Now().UnixMilli()))}
	}
	// Who holds a lease, and who is locked, only the server knows.
	isKnown := p.algorithm != "LEASE" && p.algorithm != "LOCKOUT"
	if !isKnown || !isCounted && !l.hasPlace(now) {
		found.used = most
	}
	left := found.end - now
	d := Decision{
		Allowed: found.used < most && asked.cost <= most-found.used, Count: found.used, Limit: most,
		Remaining: max(most-found.used, 0), Next: left, Reset: left, NowMS: time.Now().UnixMilli(), Source: Process, Policy: p,
	}
	switch {
	case d.Allowed:
	case p.shadow:
		d.Allowed, d.Shadow = true, true
	case asked.cost > most:
		d.RetryAfter = Never
	default:
		d.RetryAfter = left
	}
	return d
}

// Whether a new key can be counted. What has ended makes place.
func (l *local) hasPlace(now time.Duration) bool {
	if len(l.counts) < mostKeys {
		return true
	}
	if now < l.fullUntil {
		return false
	}
	l.fullUntil = math.MaxInt64
	for key, each := range l.counts {
		if each.end <= now {
			delete(l.counts, key)
		} else {
			l.fullUntil = min(l.fullUntil, each.end)
		}
	}
	return len(l.counts) < mostKeys
}
