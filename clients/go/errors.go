package redisrl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"regexp"
	"strings"
	"sync"
	"time"
)

var (
	// ErrCircuitOpen is the error of a request that was not sent, because the server does not reply.
	ErrCircuitOpen = errors.New("redisrl: the server does not reply, so this request was not sent")
	// ErrTimeout is the error of a request whose reply did not come in time. It may have been charged.
	ErrTimeout = errors.New("redisrl: no reply in time")

	errReply = errors.New("redisrl: the reply is not one of this command")
)

// What is wrong with a limiter or a request.
type invalid string

func (e invalid) Error() string { return "redisrl: " + string(e) }

// The caller's context has ended, so nobody waits for a decision.
type hasLeft struct{ error }

func (e hasLeft) Unwrap() error { return e.error }

// The replies of a server that works, but cannot decide now: vectors/errors.json.
var cannotDecide = regexp.MustCompile(
	`^(BUSY|CLUSTERDOWN|LOADING|MASTERDOWN|MISCONF|NOREPLICAS|OOM|READONLY|TRYAGAIN|ERR max number of clients)( |$)`)

var replyCode = regexp.MustCompile(`^[A-Z][A-Z0-9]*( |$)`)

// The code of an error reply, such as WRONGTYPE; else "invalid", "circuit open", "timeout", "canceled", "pool" (its
// connections are in use), "reply" or "connection". Empty without an error.
func kind(err error) string {
	var network net.Error
	var left hasLeft
	var wrong invalid
	switch {
	case err == nil:
		return ""
	case errors.As(err, &wrong):
		return "invalid"
	case errors.As(err, &left):
		return "canceled"
	case errors.Is(err, ErrCircuitOpen):
		return "circuit open"
	case errors.Is(err, ErrTimeout), errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, errReply):
		return "reply"
	case errors.Is(err, io.EOF):
		return "connection"
	}
	if strings.Contains(err.Error(), "connection pool ") { // of redigo and go-redis: exhausted, or timeout
		return "pool"
	}
	if code := replyCode.FindString(err.Error()); code != "" {
		return strings.TrimSpace(code)
	}
	return "connection"
}

// IsUnavailable reports whether an error means that the server cannot decide now: it is away, does not reply, or says so.
// Every other error is a fault of the configuration or of the request, or the caller has left; a request is never allowed
// then.
func IsUnavailable(err error) bool {
	switch kind(err) {
	case "", "canceled", "invalid", "reply":
		return false
	case "connection", "timeout", "circuit open", "pool":
		return true
	}
	return cannotDecide.MatchString(err.Error())
}

// What a server without the module says: it has no such command of the module.
var unknownCommand = regexp.MustCompile("(?i)^ERR unknown command[ '`]*(rl\\.[a-z]+)")

// The text of an error, without what the server repeats of a command: that has the caller's key.
func describe(err error) string {
	if found := unknownCommand.FindStringSubmatch(err.Error()); found != nil {
		return "ERR unknown command '" + found[1] + "': the server has not loaded the module redis-rl: docs/install.md"
	}
	return err.Error()
}

// Logs one line a second at most of each kind.
type onceASecond struct {
	mu   sync.Mutex
	seen map[string]logged
}

type logged struct {
	at      time.Time
	leftOut int
}

func (o *onceASecond) log(logger *slog.Logger, level slog.Level, what string, err error) {
	name, now := what+kind(err), time.Now()
	var network *net.OpError
	if errors.As(err, &network) { // an open connection that breaks is another thing than one that cannot be opened
		name += network.Op
	}
	o.mu.Lock()
	last := o.seen[name]
	isOften := now.Sub(last.at) < time.Second
	if o.seen[name] = (logged{at: now}); isOften {
		o.seen[name] = logged{last.at, last.leftOut + 1}
	}
	o.mu.Unlock()
	if isOften {
		return
	}
	text := "redis-rl: " + what + ": " + describe(err)
	if last.leftOut > 0 {
		text += fmt.Sprintf(" (and %d more)", last.leftOut)
	}
	logger.Log(context.Background(), level, text)
}
