package redisrl

import "time"

// How long no call has a reply before a call without one opens the breaker.
const silence = 250 * time.Millisecond

// When requests stop going to a server that does not reply, and when they begin again: docs/failure.md has it in words,
// vectors/breaker.json as a table. Time is an argument, since the limiter began.
type breaker struct {
	// The time limit of a call: a trial that is older no longer counts.
	timeout time.Duration
	isOpen  bool
	// Whether a call was sent after the last reply, and when the first one was.
	waits bool
	since time.Duration
	// Whether a call tries, and when it was sent.
	tries bool
	tried time.Duration
}

// Whether a call may be sent.
func (b *breaker) request(now time.Duration) bool {
	if b.isOpen {
		if b.tries && now-b.tried <= b.timeout {
			return false
		}
		b.tries, b.tried = true, now
	}
	if !b.waits {
		b.waits, b.since = true, now
	}
	return true
}

// A call has a reply, an error too, however late.
func (b *breaker) reply() { b.isOpen, b.waits, b.tries = false, false, false }

// The time of a call is over.
func (b *breaker) timedOut(now time.Duration) {
	if b.waits && now-b.since >= max(silence, b.timeout) {
		b.isOpen = true
	}
}

// The connection broke, or cannot be opened.
func (b *breaker) broken() { b.isOpen, b.tries = true, false }
