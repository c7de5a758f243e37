package redisrl

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"regexp"
	"strings"
	"sync"
	"time"
)

var (
	// ErrCircuitOpen is the error of a request that was not sent, because the server is silent.
	ErrCircuitOpen = errors.New("redisrl: the server is silent, so this request was not sent")
	// ErrTimeout is the error of a request whose reply did not come in time. It may have been charged.
	ErrTimeout = errors.New("redisrl: no reply in time")
	// ErrLeaseLost says that a lease ended before it was released: another holder may have been allowed.
	ErrLeaseLost = errors.New("redisrl: a lease ended before it was released")

	errNoKey = errors.New("redisrl: the request has no key")
	errReply = errors.New("redisrl: the reply is not one of this command")
)

// The caller's context has ended, so nobody waits for a decision.
type hasLeft struct{ error }

func (e hasLeft) Unwrap() error { return e.error }

// The replies of a server that works, but cannot decide now: vectors/errors.json.
var cannotDecide = map[string]bool{
	"BUSY": true, "CLUSTERDOWN": true, "LOADING": true, "MASTERDOWN": true, "MISCONF": true, "NOREPLICAS": true, "OOM": true,
	"READONLY": true, "TRYAGAIN": true,
}

var replyCode = regexp.MustCompile(`^[A-Z][A-Z0-9]*( |$)`)

// The code of an error reply, such as WRONGTYPE; else "circuit open", "timeout", "canceled", "reply" or "connection".
func kind(err error) string {
	var network net.Error
	var left hasLeft
	switch {
	case errors.As(err, &left):
		return "canceled"
	case errors.Is(err, ErrCircuitOpen):
		return "circuit open"
	case errors.Is(err, ErrTimeout), errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, errReply), errors.Is(err, errNoKey):
		return "reply"
	case errors.Is(err, io.EOF):
		return "connection"
	}
	if code := replyCode.FindString(err.Error()); code != "" {
		return strings.TrimSpace(code)
	}
	return "connection"
}

// Whether no connection could be opened.
func isDial(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) && network.Op == "dial"
}

// IsUnavailable reports whether an error means that the server cannot decide now: it is away, silent, or says so. Every
// other error is a fault of the configuration or of the request, or the caller has left; a request is never allowed then.
func IsUnavailable(err error) bool {
	switch found := kind(err); found {
	case "connection", "timeout", "circuit open":
		return true
	case "ERR":
		return strings.HasPrefix(err.Error(), "ERR max number of clients")
	default:
		return cannotDecide[found]
	}
}

// Logs one line a second at most of each kind. It says no key and no argument.
type onceASecond struct {
	mu   sync.Mutex
	seen map[string]*logged
}

type logged struct {
	at      time.Time
	leftOut int
}

func (o *onceASecond) log(logger *slog.Logger, level slog.Level, what string, err error) {
	found, now := kind(err), time.Now()
	o.mu.Lock()
	if o.seen == nil {
		o.seen = map[string]*logged{}
	}
	name := what + found
	if isDial(err) { // an open connection that breaks is another thing
		name += " dial"
	}
	last := o.seen[name]
	if last != nil && now.Sub(last.at) < time.Second {
		last.leftOut++
		o.mu.Unlock()
		return
	}
	leftOut := 0
	if last != nil {
		leftOut = last.leftOut
	}
	o.seen[name] = &logged{at: now}
	o.mu.Unlock()
	attributes := []any{"kind", found}
	if leftOut > 0 {
		attributes = append(attributes, "left_out", leftOut)
	}
	logger.Log(context.Background(), level, "redisrl: "+what+": "+describe(err), attributes...)
}

var unknownCommand = regexp.MustCompile("(?i)^ERR unknown command[ '`]*(rl\\.[a-z]+)?")

// The text of an error, without what the server repeats of a command: that has the caller's key.
func describe(err error) string {
	if found := unknownCommand.FindString(err.Error()); found != "" {
		return found + ": the server has no module redis-rl"
	}
	return err.Error()
}
