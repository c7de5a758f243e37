package redisrl

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Never is a wait that has no end: the cost is above what the limit can hold.
const Never time.Duration = -1

// A Source says who decided.
type Source int

const (
	// Server: the server decided.
	Server Source = iota
	// Process: the limit of this process decided, because the server cannot: [Local].
	Process
	// Unavailable: [Limiter.Unavailable] decided, because the server cannot. No figure is known.
	Unavailable
)

// A Decision is what a request gets. The figures are those of FULL in the command reference, after this request.
type Decision struct {
	// Whether the request may go on; of [Request.Partial], whether any part of it may.
	Allowed bool
	// What the limit counts: the table of the algorithms in the command reference says what.
	Count int64
	// What Remaining counts down from: the burst if given, else the limit.
	Limit int64
	// The cost that would be allowed right now.
	Remaining int64
	// How many units this call charged.
	Charged int64
	// When the same request would be allowed: 0 if it is, Never if the limit can never hold it.
	RetryAfter time.Duration
	// The time until Remaining grows, and until the whole limit is available: 0 if it is, Never for never.
	Next, Reset time.Duration
	// Of LEAKY: how long to hold the request; else 0.
	Delay time.Duration
	// The server's time in milliseconds since 1970.
	NowMS int64
	// Whether shadow mode allowed what the limit denies.
	Shadow bool
	// Who decided, and by which policy.
	Source Source
	Policy Policy
}

// Decisions are what a request under several limits gets.
type Decisions struct {
	// Whether every limit allows it; of [Limiter.Share], whether one does.
	Allowed bool
	// Of [Limiter.Share]: which limit paid, from 1; 0 if none did.
	Paid int
	// When the same request would be allowed: 0 if it is, Never if the limits can never hold it.
	RetryAfter time.Duration
	// The decision of each limit, in the order of the requests.
	Limits []Decision

	// The limit whose figures the headers have.
	deciding int
}

// The decisions of a call. first is 1 if it is allowed or, of RL.SHARE, the limit that paid, from 1; else 0.
func decisions(c *call, first int64, limits []Decision) Decisions {
	d := Decisions{Allowed: first > 0, Limits: limits, deciding: max(int(first)-1, 0)}
	for i := range limits {
		switch {
		case c.verb != "SHARE":
			if limits[i].isStricter(limits[d.deciding]) {
				d.deciding = i
			}
		// Never, -1, becomes the largest.
		case !d.Allowed && uint64(limits[i].RetryAfter) < uint64(limits[d.deciding].RetryAfter):
			d.deciding = i
		}
	}
	if c.verb == "SHARE" {
		d.Paid = int(first)
	}
	if !d.Allowed {
		d.RetryAfter = limits[d.deciding].RetryAfter
	}
	return d
}

// Reads the reply to a call.
func (c *call) decisions(reply any) (Decisions, error) {
	lines, first := []any{reply}, int64(0)
	if c.isOfSeveral() {
		parts, _ := reply.([]any)
		if len(parts) != 2 {
			return Decisions{}, errReply
		}
		var isNumber bool
		first, isNumber = parts[0].(int64)
		lines, _ = parts[1].([]any)
		if !isNumber || len(lines) != len(c.limits) || first < 0 || first > int64(len(lines)) {
			return Decisions{}, errReply
		}
	}
	limits := make([]Decision, len(lines))
	for i, line := range lines {
		var f [figures]int64
		if !readLine(line, &f) {
			return Decisions{}, errReply
		}
		request := c.limits[i].Request
		allowed := f[0] > 0
		if request.partial && request.cost == 0 {
			// It charges 0 units in either case.
			allowed = f[5] == 0
		}
		limits[i] = Decision{
			Allowed: allowed, Count: f[1], Limit: f[3], Remaining: f[4], RetryAfter: wait(f[5]), Next: wait(f[6]),
			Reset: wait(f[7]), Delay: max(wait(f[8]), 0), NowMS: f[9], Shadow: f[10] != 0, Charged: f[11],
			Policy: request.Policy,
		}
	}
	if !c.isOfSeveral() && limits[0].Allowed {
		first = 1
	}
	return decisions(c, first, limits), nil
}

const figures = 12

// Reads the twelve figures of LINE; a newer module says more.
func readLine(reply any, out *[figures]int64) bool {
	line, isText := reply.(string)
	if bytes, isBytes := reply.([]byte); isBytes {
		line, isText = string(bytes), true
	}
	for i := 0; isText && i < figures; i++ {
		word, rest, found := strings.Cut(line, " ")
		if !found && i < figures-1 {
			return false
		}
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return false
		}
		out[i], line = n, rest
	}
	return isText
}

func wait(millis int64) time.Duration {
	if millis < 0 {
		return Never
	}
	return time.Duration(min(millis, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
}

// WriteHeaders sets the headers of the HTTP response: X-RateLimit-Limit, -Remaining and -Reset, RateLimit-Policy and
// RateLimit as in draft-ietf-httpapi-ratelimit-headers, and Retry-After on a denial that can be allowed later.
func (d Decision) WriteHeaders(header http.Header) {
	Decisions{Limits: []Decision{d}}.WriteHeaders(header)
}

// The largest integer of a structured header field (RFC 9651, section 3.3.1). A larger one voids the whole header.
const maxInteger = 999_999_999_999_999

// WriteHeaders sets the headers of the HTTP response: all policies are listed, and the other figures are those of the
// strictest limit; of [Limiter.Share], of the one that paid, or of the one that allows first.
func (d Decisions) WriteHeaders(header http.Header) {
	if len(d.Limits) == 0 {
		return
	}
	var names, policies []string
	for _, each := range d.Limits {
		label := each.Policy.label
		name := label // the second of a name becomes name-2, and so on
		for n := 2; slices.Contains(names, name); n++ {
			name = fmt.Sprintf("%s-%d", label, n)
		}
		names, policies = append(names, name), append(policies, each.item(name))
	}
	header.Set("RateLimit-Policy", strings.Join(policies, ", "))
	s := d.Limits[d.deciding]
	if s.Source != Unavailable {
		header.Set("X-RateLimit-Limit", decimal(s.Limit))
		header.Set("X-RateLimit-Remaining", decimal(s.Remaining))
		if s.Reset != Never {
			header.Set("X-RateLimit-Reset", decimal((s.NowMS+s.Reset.Milliseconds()+999)/1000))
		}
		item := fmt.Sprintf("%q;r=%d", names[d.deciding], min(s.Remaining, maxInteger))
		if s.Next != Never {
			item += fmt.Sprintf(";t=%d", min(seconds(s.Next), maxInteger))
		}
		header.Set("RateLimit", item)
	}
	if !s.Allowed && s.RetryAfter > 0 {
		header.Set("Retry-After", decimal(seconds(s.RetryAfter)))
	}
}

// Denied before allowed, then the longest wait, then the least remaining.
func (d Decision) isStricter(other Decision) bool {
	if d.Allowed != other.Allowed {
		return !d.Allowed
	}
	// Never, -1, becomes the largest.
	if a, b := uint64(d.RetryAfter), uint64(other.RetryAfter); a != b {
		return a > b
	}
	return d.Remaining < other.Remaining
}

// The policy in RateLimit-Policy. Its window is a whole number of seconds, so the limit of another window is given for
// the smallest whole multiple that is: 10 in 500 ms are 20 in 1 s.
func (d Decision) item(name string) string {
	window, limit := d.Policy.windowAt(d.NowMS), d.Policy.limit
	if d.Policy.algorithm == "LEASE" { // how many at once does not depend on the window
		return fmt.Sprintf("%q;q=%d;w=%d;qu=\"concurrent-requests\"", name, min(limit, maxInteger), (window+999)/1000)
	}
	windows := int64(1)
	for window*windows%1000 != 0 {
		windows++
	}
	if limit > maxInteger/windows {
		limit = maxInteger
	} else {
		limit *= windows
	}
	return fmt.Sprintf("%q;q=%d;w=%d", name, limit, min(window/1000*windows+window%1000*windows/1000, maxInteger))
}

// Rounded up.
func seconds(d time.Duration) int64 { return (d.Milliseconds() + 999) / 1000 }
