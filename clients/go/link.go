package redisrl

import (
	"context"
	"sync"
	"sync/atomic"
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

// A command under way. It is the context of the [Doer]: that ends with the time limit, or when the caller leaves.
type call struct {
	context.Context
	command
	deadline time.Time
	done     chan struct{}
	hasLeft  atomic.Bool
	replied  chan reply
	words    [9]any // enough for most commands
}

type reply struct {
	value any
	err   error
}

func (c *call) Deadline() (time.Time, bool) { return c.deadline, true }
func (c *call) Done() <-chan struct{}       { return c.done }
func (c *call) Err() error {
	if !c.hasLeft.Load() {
		return nil
	}
	if err := c.Context.Err(); err != nil {
		return err
	}
	return context.DeadlineExceeded
}

func (c *call) leave() {
	c.hasLeft.Store(true)
	close(c.done)
}

var (
	channels = sync.Pool{New: func() any { return make(chan reply, 1) }}
	timers   = sync.Pool{New: func() any { return time.NewTimer(time.Hour) }}
)

func newLink(doer Doer, timeout time.Duration) *link {
	return &link{doer: doer, timeout: timeout, began: time.Now(), breaker: newBreaker(silence, timeout), wakes: never}
}

func (l *link) now() time.Duration { return time.Since(l.began) }

// The reply to a command. If it gives up waiting for it, the server may have executed the command.
func (l *link) do(ctx context.Context, timeout time.Duration, c *call, words []any) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.Context, c.deadline, c.done = ctx, time.Now().Add(timeout), make(chan struct{})
	if end, limited := ctx.Deadline(); limited && end.Before(c.deadline) {
		c.deadline = end
	}
	l.mu.Lock()
	sends := l.breaker.request(&c.command, l.now())
	l.wake()
	l.mu.Unlock()
	if !sends {
		return nil, ErrCircuitOpen
	}
	c.replied = channels.Get().(chan reply)
	// A client that ignores its context delays nobody.
	go l.send(c, words)
	timer := timers.Get().(*time.Timer)
	timer.Reset(timeout)
	defer timers.Put(timer)
	defer timer.Stop()
	var err error
	select {
	case r := <-c.replied:
		channels.Put(c.replied)
		return r.value, r.err
	case <-timer.C:
		err = ErrTimeout
	case <-ctx.Done():
		err = ctx.Err()
	}
	// In a process that was busy for longer, the reply may be there too.
	select {
	case r := <-c.replied:
		channels.Put(c.replied)
		return r.value, r.err
	default:
	}
	l.mu.Lock()
	l.breaker.leave(&c.command, false)
	l.mu.Unlock()
	c.leave()
	return nil, err
}

func (l *link) send(c *call, words []any) {
	value, err := l.doer.Do(c, words...)
	l.mu.Lock()
	switch found := kindOf(err); {
	case found == "timeout" || found == "canceled" || found == "connection" && c.left:
		l.breaker.leave(&c.command, true)
	case found == "connection":
		l.breaker.forget(&c.command)
		l.breaker.connectFailed(l.now())
	default: // an error reply too
		l.breaker.reply(&c.command, l.now())
	}
	l.wake()
	l.mu.Unlock()
	c.replied <- reply{value, err}
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
