package redisrl

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// How long the scripts decide before the module is looked for again.
const lookAgain = 5 * time.Second

func (l *Limiter) now() time.Duration { return time.Since(l.began) }

// The reply to a call: sent within the time limit, not to a server that does not reply, and never again. Without a reply,
// the server may have executed the call.
func (l *Limiter) send(caller context.Context, c *call) (any, error) {
	if err := caller.Err(); err != nil {
		return nil, l.counted(hasLeft{err})
	}
	l.mu.Lock()
	sends := l.breaker.request(l.now())
	l.mu.Unlock()
	if !sends {
		return nil, l.counted(ErrCircuitOpen)
	}
	ctx, cancel := context.WithTimeout(caller, l.Timeout)
	defer cancel()
	reply, err := l.byModuleOrScript(ctx, c)
	if err != nil {
		if left := caller.Err(); left != nil {
			err = hasLeft{left}
		} else if ends, isLimited := caller.Deadline(); isLimited && !time.Now().Before(ends) {
			err = hasLeft{context.DeadlineExceeded}
		}
	}
	l.mu.Lock()
	switch kind(err) {
	case "canceled", "pool": // says nothing about the server
	case "timeout":
		l.breaker.timedOut(l.now())
		err = fmt.Errorf("%w: %w", ErrTimeout, err)
	case "connection":
		l.breaker.broken()
		l.scriptsUntil.Store(0) // a new connection may be one to another server
	default: // an error reply too
		l.breaker.reply()
	}
	l.mu.Unlock()
	return reply, l.counted(err)
}

func (l *Limiter) byModuleOrScript(ctx context.Context, c *call) (any, error) {
	if int64(l.now()) >= l.scriptsUntil.Load() {
		reply, err := l.Doer.Do(ctx, c.command()...)
		if err == nil && l.scriptsDecide.Load() && l.scriptsDecide.Swap(false) {
			l.line("the module decides again")
		}
		if err == nil || l.ModuleRequired || !unknownCommand.MatchString(err.Error()) {
			return reply, err
		}
		if !l.scriptsDecide.Swap(true) {
			l.line("no module: the Lua scripts decide, at a higher cost for the server. What a worker that died has " +
				"reserved comes back when its window ends, and a settlement sent twice charges twice: docs/hosted.md")
		}
		l.scriptsUntil.Store(int64(l.now() + lookAgain))
	}
	script, words := c.script()
	reply, err := l.Doer.Do(ctx, append([]any{"EVALSHA", script.sha}, words...)...)
	if kind(err) == "NOSCRIPT" { // it was not executed
		return l.Doer.Do(ctx, append([]any{"EVAL", script.text}, words...)...)
	}
	return reply, err
}

func (l *Limiter) line(text string) {
	l.Logger.Log(context.Background(), slog.LevelWarn, "redis-rl: "+text)
}

// Counts why there is no reply.
func (l *Limiter) counted(err error) error {
	if err != nil {
		l.mu.Lock()
		l.stats.Errors[kind(err)]++
		l.mu.Unlock()
	}
	return err
}
