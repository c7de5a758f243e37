package redisrl

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
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

func (r *Request) check(verb string) error {
	if r.Policy.terms == nil {
		return errors.New("redisrl: the request has no policy")
	}
	algorithm := r.Policy.Algorithm()
	can := capabilities[algorithm]
	for _, option := range []struct {
		isGiven, isTaken bool
		word             string
	}{
		{r.hasCost, can.cost, "COST"}, {r.partial, can.partial, "PARTIAL"}, {r.always, can.always, "ALWAYS"},
		{r.reservation != "", can.reserve, "RESERVE"}, {r.id != "", can.id, "ID"},
	} {
		if option.isGiven && !option.isTaken {
			return fmt.Errorf("redisrl: invalid %s: %s takes none", option.word, algorithm)
		}
	}
	switch {
	case r.Key == "":
		return errors.New("redisrl: the request has no key: callers without one would share a limit")
	case r.cost < 0:
		return errors.New("redisrl: invalid cost: expected an integer of at least 0")
	case can.id && r.id == "" && verb != "PEEK" && verb != "RESET":
		return errors.New("redisrl: LEASE needs an ID: use Limiter.Lease")
	case r.reservation != "" && r.ttl < time.Millisecond:
		return errors.New("redisrl: invalid ttl: expected at least a millisecond")
	}
	return nil
}

// The words of a command or of a script after the key. The name of the policy is not among them: the scripts have no AS, and
// the headers are made here.
func (r *Request) words(verb string) []any {
	t := r.Policy.terms
	words := make([]any, 0, len(t.words)+9)
	switch verb {
	case "RESET":
		if words = append(words, t.window); t.anchor >= 0 {
			words = append(words, "ANCHOR", strconv.FormatInt(t.anchor, 10))
		}
		return words
	case "RENEW":
		return append(words, t.window, r.id)
	case "RELEASE":
		return append(words, r.id)
	}
	isCorrection := verb == "REFUND" || verb == "SETTLE"
	words = append(words, t.words...)
	if isCorrection && t.shadow { // it is the last
		words = words[:len(words)-1]
	}
	switch {
	case verb == "SETTLE" && r.reservation != "":
		words = append(words, "RESERVATION", r.reservation, "ACTUAL", strconv.FormatInt(r.actual, 10))
	case verb == "SETTLE":
		words = append(words, "RESERVED", strconv.FormatInt(r.cost, 10), "ACTUAL", strconv.FormatInt(r.actual, 10))
	case r.cost != 1 || r.hasCost:
		words = append(words, "COST", strconv.FormatInt(r.cost, 10))
	}
	if isCorrection {
		if r.atMS > 0 {
			words = append(words, "AT", strconv.FormatInt(r.atMS, 10))
		}
		return append(words, "LINE")
	}
	if r.partial {
		words = append(words, "PARTIAL")
	}
	if r.always {
		words = append(words, "ALWAYS")
	}
	if verb != "PEEK" {
		if r.id != "" {
			words = append(words, "ID", r.id)
		}
		if r.reservation != "" {
			words = append(words, "RESERVE", r.reservation, inMillis(r.ttl.Milliseconds()))
		}
	}
	if verb == "MULTI" || verb == "SHARE" {
		return words // these have one LINE
	}
	return append(words, "LINE")
}

func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // since Go 1.24 it never fails, and before it did not on Linux
	return hex.EncodeToString(id[:])
}
