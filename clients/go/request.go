package redisrl

import (
	"crypto/rand"
	"encoding/hex"
	"time"
)

// A Request asks for units of one limit.
type Request struct {
	Policy Policy
	// Whom to limit: user:42, or an [AddressKey]. The key in Redis is <prefix><name of the policy>:{<key>}.
	Key string

	cost            int64
	hasCost         bool
	partial, always bool
	id, reservation string
	ttl             time.Duration
	atMS, actual    int64
}

// Request is a request of cost 1.
func (p Policy) Request(key string) Request { return Request{Policy: p, Key: key, cost: 1} }

// Cost is what the request takes, 0 or more. A cost of 0 is allowed while at least one unit is left, and charges nothing.
func (r Request) Cost(units int64) Request {
	r.cost, r.hasCost = units, true
	return r
}

// Partial charges as much of the cost as fits: Charged of the decision.
func (r Request) Partial() Request {
	r.partial = true
	return r
}

// Always charges the cost whatever the limit says.
func (r Request) Always() Request {
	r.always = true
	return r
}

// ID is the holder of a LEASE, in a call of several limits.
func (r Request) ID(id string) Request {
	r.id = id
	return r
}

// Reserve makes the charge a reservation, which comes back after ttl unless [Limiter.Settle] settles it. The id is never one
// that the limited party chooses: who repeats an open id is charged nothing more. Not without the module.
func (r Request) Reserve(id string, ttl time.Duration) Request {
	r.reservation, r.ttl = id, ttl
	return r
}

// At is when the request was charged, for [Limiter.Refund] and [Limiter.Settle]: NowMS of its decision.
func (r Request) At(nowMS int64) Request {
	r.atMS = nowMS
	return r
}

// Whether it can be sent. Without a cost it takes 1.
func (r *Request) check(verb string) error {
	if r.Policy.terms == nil {
		return invalid("the request has no policy")
	}
	if !r.hasCost {
		r.cost = 1
	}
	switch {
	case r.Key == "":
		return invalid("the request has no key: callers without one would share a limit")
	case r.cost < 0:
		return invalid("invalid cost: expected an integer of at least 0")
	case r.Policy.algorithm == "LEASE" && r.id == "" && verb != "PEEK" && verb != "RESET":
		return invalid("LEASE needs an ID: use Limiter.Lease")
	case r.reservation != "" && r.ttl < time.Millisecond:
		return invalid("invalid ttl: expected at least a millisecond")
	}
	return nil
}

// The words of a command or of a script after the key. The name of the policy is not among them: the scripts have no AS, and
// the headers are made here.
func (r *Request) words(verb string) []any {
	own := r.Policy.words
	isCorrection := verb == "REFUND" || verb == "SETTLE" || verb == "RESET"
	if isCorrection && r.Policy.shadow { // it is the last
		own = own[:len(own)-1]
	}
	words := append(make([]any, 0, len(own)+9), own[0])
	switch verb {
	case "RESET":
		if takes(r.Policy.algorithm, "ANCHOR") {
			words = append(words, own[2:]...)
		}
		return words
	case "RENEW":
		return append(words, r.id)
	case "RELEASE":
		return []any{r.id}
	}
	words = append(words, own[1:]...)
	add := func(isGiven bool, more ...any) {
		if isGiven {
			words = append(words, more...)
		}
	}
	isSettled, isAsked := verb == "SETTLE", !isCorrection && verb != "PEEK"
	add(isSettled && r.reservation != "", "RESERVATION", r.reservation)
	add(isSettled && r.reservation == "", "RESERVED", decimal(r.cost))
	add(isSettled, "ACTUAL", decimal(r.actual))
	add(!isSettled && r.cost != 1, "COST", decimal(r.cost))
	add(isCorrection && r.atMS > 0, "AT", decimal(r.atMS))
	add(!isCorrection && r.partial, "PARTIAL")
	add(!isCorrection && r.always, "ALWAYS")
	add(isAsked && r.id != "", "ID", r.id)
	add(isAsked && r.reservation != "", "RESERVE", r.reservation, inMillis(r.ttl.Milliseconds()))
	add(verb != "MULTI" && verb != "SHARE", "LINE") // these have one LINE
	return words
}

func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // since Go 1.24 it never fails, and before it did not on Linux
	return hex.EncodeToString(id[:])
}
