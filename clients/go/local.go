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

// What is counted of a limit, and whether it allows a request.
type found struct {
	count
	most    int64
	allowed bool
}

// The decisions on a call. A refund gives back what was counted here.
func (l *local) decide(c *call, now time.Duration) Decisions {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.verb == "REFUND" {
		if counted, isCounted := l.counts[c.limits[0].key]; isCounted {
			counted.used = max(counted.used-c.limits[0].cost, 0)
			l.counts[c.limits[0].key] = counted
		}
	}
	all, payer, isAllowed := make([]found, len(c.limits)), 0, true
	for i := range c.limits {
		all[i] = l.look(&c.limits[i], now)
		allows := all[i].allowed || c.limits[i].Policy.IsShadow()
		isAllowed = isAllowed && allows
		if payer == 0 && allows {
			payer = i + 1
		}
	}
	first := int64(0)
	if c.verb == "SHARE" {
		first = int64(payer)
	} else if isAllowed {
		first = 1
	}
	limits := make([]Decision, len(all))
	for i := range all {
		units := int64(0)
		switch {
		case c.verb == "SHARE" && payer > 0 && i+1 >= payer, // and those that are wider are charged too
			(c.verb == "CHECK" || c.verb == "MULTI") && isAllowed && all[i].allowed:
			units = c.limits[i].cost
		}
		limits[i] = l.charge(&c.limits[i], all[i], units, now)
	}
	return decisions(c, first, limits)
}

func (l *local) charge(limit *limit, f found, units int64, now time.Duration) Decision {
	if units > 0 {
		// The units of RL.SHARE may be above the limit, without end.
		l.counts[limit.key] = count{f.used + min(units, math.MaxInt64-f.used), f.end}
	}
	shadow, left := limit.Policy.IsShadow(), f.end-now
	d := Decision{
		Allowed: f.allowed || shadow, Count: f.used, Limit: f.most, Charged: units, Next: left, Reset: left,
		Remaining: max(f.most-f.used-min(units, f.most), 0), NowMS: time.Now().UnixMilli(), Shadow: !f.allowed && shadow,
		Source: Process, policy: limit.Policy,
	}
	if !f.allowed {
		d.RetryAfter = left
		if limit.cost > f.most {
			d.RetryAfter = Never
		}
	}
	return d
}

func (l *local) look(limit *limit, now time.Duration) found {
	p := limit.Policy
	most := min(p.Limit(), max(1, p.Limit()/l.instances))
	counted, isCounted := l.counts[limit.key]
	if isCounted && counted.end <= now {
		delete(l.counts, limit.key)
		isCounted = false
	}
	if !isCounted {
		counted = count{end: now + wait(p.windowAt(time.Now().UnixMilli()))}
	}
	// Who holds a lease, and who is locked, only the server knows.
	isKnown := p.Algorithm() != "LEASE" && p.Algorithm() != "LOCKOUT"
	if !isKnown || !isCounted && !l.hasPlace(now) {
		counted.used = most
		return found{counted, most, false}
	}
	return found{counted, most, counted.used < most && limit.cost <= most-counted.used}
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
