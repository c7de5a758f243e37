package redisrl

import (
	"math"
	"time"
)

type breakerState string

const (
	closed breakerState = "closed"
	open   breakerState = "open"
	trying breakerState = "trying" // PING has a reply, but commands have none
)

const never = time.Duration(math.MaxInt64)

// When probes are sent after the opening. Later ones come each second.
var probes = []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond}

// A command without a reply, in the order in which they were sent.
type command struct {
	at         time.Duration
	left, lost bool // its caller gave up; it will have no reply
	waits      bool
	prev, next *command
}

// When requests stop going to a server that is silent, and when they begin again: docs/failure.md has it in words,
// vectors/breaker.json as a table. Time is an argument, since the limiter began.
type breaker struct {
	state breakerState
	// How long a silence opens it.
	silence        time.Duration
	oldest, newest *command
	readAt         time.Duration
	// There is no connection, and none could be opened.
	disconnected        bool
	openedAt, nextProbe time.Duration
	// A PONG closed it last, and no command has had a reply since.
	doubted bool
	// The command that tries.
	trial *command
}

// With a silence of 0 it never opens; else it opens after silence, or after the time limit of a command, if that is longer.
func newBreaker(silence, timeout time.Duration) breaker {
	if silence == 0 {
		return breaker{state: closed, silence: never, readAt: -never}
	}
	return breaker{state: closed, silence: max(silence, timeout), readAt: -never}
}

// When tick has something to do, if there is no other event before.
func (b *breaker) due() time.Duration {
	if b.state == open {
		return b.nextProbe
	}
	if since := b.silentSince(); b.silence != never && since != never {
		return since + b.silence
	}
	return never
}

func (b *breaker) silentSince() time.Duration {
	if b.oldest == nil {
		return never
	}
	return max(b.readAt, b.oldest.at)
}

// A decision is wanted. Whether the command is sent.
func (b *breaker) request(c *command, now time.Duration) bool {
	if b.state == open || b.state == trying && b.trial != nil && now < b.trial.at+time.Second {
		return false
	}
	*c = command{at: now, waits: true, prev: b.newest}
	if b.newest == nil {
		b.oldest = c
	} else {
		b.newest.next = c
	}
	b.newest = c
	if b.state == trying {
		b.trial = c
	}
	return true
}

// The caller of a command gave up. Its reply may still come, unless it is lost: it counts as silence until anything is
// read.
func (b *breaker) leave(c *command, lost bool) {
	c.left = true
	c.lost = c.lost || lost
}

// A command has its reply, an error too.
func (b *breaker) reply(c *command, now time.Duration) {
	b.remove(c)
	for b.oldest != nil && b.oldest.left {
		b.remove(b.oldest)
	}
	b.read(now)
	b.state, b.doubted, b.trial = closed, false, nil
}

// A probe has its reply.
func (b *breaker) pong(now time.Duration) {
	b.read(now)
	for c := b.oldest; c != nil; {
		next := c.next
		if c.lost {
			b.remove(c)
		}
		c = next
	}
	if b.state != open {
		return
	}
	if b.state = closed; b.doubted {
		b.state = trying
	}
	b.doubted = true
}

func (b *breaker) read(now time.Duration) {
	b.readAt, b.disconnected = now, false
}

// A command will have no reply, for a reason that says nothing about the server.
func (b *breaker) forget(c *command) {
	b.remove(c)
	if b.trial == c {
		b.trial = nil
	}
}

func (b *breaker) remove(c *command) {
	if !c.waits {
		return
	}
	if c.prev == nil {
		b.oldest = c.next
	} else {
		c.prev.next = c.next
	}
	if c.next == nil {
		b.newest = c.prev
	} else {
		c.next.prev = c.prev
	}
	c.waits, c.prev, c.next = false, nil, nil
}

// There is no connection, and none can be opened.
func (b *breaker) connectFailed(now time.Duration) {
	if b.state == open || b.silence == never {
		return
	}
	b.disconnected = true
	b.opens(now)
}

func (b *breaker) opens(now time.Duration) {
	b.state, b.openedAt, b.nextProbe = open, now, now
}

// Opens it if the silence was long enough. Returns the probe that is sent: "ping", over the connection of the commands,
// "connect", over a new one, or none.
func (b *breaker) tick(now time.Duration) string {
	if b.state != open && now >= b.due() {
		b.opens(now)
	}
	if b.state != open || now < b.nextProbe {
		return ""
	}
	after, last := now-b.openedAt, probes[len(probes)-1]
	next := last + time.Second*((after-last)/time.Second+1)
	for _, probe := range probes {
		if probe > after {
			next = probe
			break
		}
	}
	b.nextProbe = b.openedAt + next
	if since := b.silentSince(); b.disconnected || since != never && now >= since+time.Second {
		return "connect"
	}
	return "ping"
}
