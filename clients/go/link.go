package redisrl

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// How long a server may be silent before nothing more is sent to it.
const silence = 250 * time.Millisecond

// Sends commands: within the time limit, none to a server that is silent, and none again.
type link struct {
	doer    Doer
	timeout time.Duration
	began   time.Time
	mu      sync.Mutex
	breaker breaker
	timer   *time.Timer
	// When the timer ends.
	wakes time.Duration
}

// A command under way. It is the context of the [Doer], with the time limit. Most clients only look at the deadline, so the
// channel is made when it is asked for.
type call struct {
	context.Context
	command
	deadline time.Time
	mu       sync.Mutex
	done     chan struct{}
	stops    [2]func() bool
	words    [9]any // enough for most commands
}

func (c *call) Deadline() (time.Time, bool) { return c.deadline, true }

func (c *call) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		end := sync.OnceFunc(func() { close(c.done) })
		c.stops = [2]func() bool{time.AfterFunc(time.Until(c.deadline), end).Stop, context.AfterFunc(c.Context, end)}
	}
	return c.done
}

func (c *call) Err() error {
	if err := c.Context.Err(); err != nil {
		return err
	}
	if !time.Now().Before(c.deadline) {
		return context.DeadlineExceeded
	}
	return nil
}

// Ends the timers.
func (c *call) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, stop := range c.stops {
		if stop != nil {
			stop()
		}
	}
}

func newLink(doer Doer, timeout time.Duration) *link {
	return &link{doer: doer, timeout: timeout, began: time.Now(), breaker: newBreaker(silence, timeout), wakes: never}
}

func (l *link) now() time.Duration { return time.Since(l.began) }

// The reply to a command. Without one, the server may have executed the command.
func (l *link) do(ctx context.Context, timeout time.Duration, c *call, words []any) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, hasLeft{err}
	}
	c.Context, c.deadline = ctx, time.Now().Add(timeout)
	ends, isLimited := ctx.Deadline()
	if isLimited = isLimited && ends.Before(c.deadline); isLimited {
		c.deadline = ends
	}
	l.mu.Lock()
	sends := l.breaker.request(&c.command, l.now())
	l.wake()
	l.mu.Unlock()
	if !sends {
		return nil, ErrCircuitOpen
	}
	defer c.stop()
	value, err := l.doer.Do(c, words...)
	l.mu.Lock()
	switch found := kindOf(err); {
	case err != nil && isDial(err) && ctx.Err() == nil:
		l.breaker.forget(&c.command)
		l.breaker.connectFailed(l.now())
	case found == "connection": // one that was open, so the next command opens another
		l.breaker.forget(&c.command)
	case found == "timeout" || found == "canceled":
		l.breaker.leave(&c.command, true)
	default: // an error reply too
		l.breaker.reply(&c.command, l.now())
	}
	l.wake()
	l.mu.Unlock()
	if err == nil {
		return value, nil
	}
	if left := ctx.Err(); left != nil {
		return nil, hasLeft{left}
	}
	if isLimited && !time.Now().Before(ends) {
		return nil, hasLeft{context.DeadlineExceeded}
	}
	if kind(err) == "timeout" {
		err = fmt.Errorf("%w: %w", ErrTimeout, err)
	}
	return nil, err
}

func kindOf(err error) string {
	if err == nil {
		return ""
	}
	return kind(err)
}

// One timer for all commands: an event before it ends only delays what it is for. The lock is held.
func (l *link) wake() {
	due := l.breaker.due()
	if due >= l.wakes {
		return
	}
	l.wakes = due
	if l.timer == nil {
		l.timer = time.AfterFunc(due-l.now(), l.tick)
	} else {
		l.timer.Reset(due - l.now())
	}
}

func (l *link) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wakes = never
	if l.breaker.tick(l.now()) != "" {
		go l.probe()
	}
	l.wake()
}

// The library chooses the connection of the PING.
func (l *link) probe() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, err := l.doer.Do(ctx, "PING")
	switch kindOf(err) {
	case "connection", "timeout", "canceled":
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.breaker.pong(l.now())
	l.wake()
}
