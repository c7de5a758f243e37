package redisrl

import (
	"context"
	"crypto/sha1" //nolint:gosec // Redis names scripts so.
	"embed"
	"encoding/hex"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The scripts of lua/generated, which decide on a server without the module: docs/lua.md says how they are called.
//
//go:embed scripts/*.lua
var sources embed.FS

// How often a request looks for the module on a server that had none.
const lookEvery = 5 * time.Second

// What is known of a server for the scripts.
type scripts struct {
	// When the module was last missed, in nanoseconds since 1970; 0 if it was not.
	missedAt atomic.Int64
	// The server's clock less this machine's, in milliseconds.
	ahead atomic.Int64
	// Whether the connection is a cluster's.
	cluster atomic.Bool
	mu      sync.Mutex
	// The suffixes of the windows of FIXED whose length is not always the same, or that have an anchor.
	windows map[string][2]string
}

// Sends a command to the module or, where there is none, to the scripts.
func (s *scripts) run(ctx context.Context, l *Limiter, c *invocation) (any, error) {
	timeout := l.Timeout
	if c.timeout > 0 {
		timeout = c.timeout
	}
	sent := new(call)
	words := c.native(sent.words[:0])
	missed := s.missedAt.Load()
	if now := time.Now().UnixNano(); missed == 0 || now-missed >= int64(lookEvery) && s.missedAt.CompareAndSwap(missed, now) {
		value, err := l.link.do(ctx, timeout, sent, words)
		if err == nil || !isUnknownCommand(err) {
			if err == nil && missed != 0 {
				s.missedAt.Store(0)
			}
			return value, err
		}
		if l.ModuleRequired {
			return nil, err
		}
		if s.missedAt.Swap(time.Now().UnixNano()) == 0 {
			l.logs.log(l.Logger, slog.LevelWarn, "no module: the Lua scripts decide; docs/install.md tells how to load it", err)
		}
	}
	return s.call(ctx, l.link, words, time.Now().Add(timeout))
}

// Calls the script of a command. Nothing is sent again but after a reply that says that it was not executed.
func (s *scripts) call(ctx context.Context, link *link, words []any, deadline time.Time) (any, error) {
	var retried, sentText bool
	for {
		name, keys, argv, err := s.translate(words, time.Now().UnixMilli()+s.ahead.Load())
		if err != nil {
			return nil, err
		}
		script, err := scriptOf(name)
		if err != nil {
			return nil, err
		}
		command := []any{"EVALSHA", script.digest, strconv.Itoa(len(keys))}
		if sentText {
			command = []any{"EVAL", script.text, strconv.Itoa(len(keys))}
		}
		value, err := link.do(ctx, time.Until(deadline), new(call), append(append(command, keys...), argv...))
		switch {
		case err == nil:
			s.learn(value)
			return value, nil
		case kind(err) == "NOSCRIPT" && !sentText:
			sentText = true
		case !retried && (s.learnClock(err, words) || kind(err) == "CROSSSLOT" && !s.cluster.Swap(true)):
			retried = true
		default:
			return nil, err
		}
	}
}

type script struct{ text, digest string }

var loaded sync.Map

func scriptOf(name string) (script, error) {
	if found, ok := loaded.Load(name); ok {
		return found.(script), nil
	}
	text, err := sources.ReadFile("scripts/" + name + ".lua")
	if err != nil {
		return script{}, errors.New("redisrl: the server has no module redis-rl, and there is no script for this command: see docs/install.md")
	}
	sum := sha1.Sum(text)
	found := script{string(text), hex.EncodeToString(sum[:])}
	loaded.Store(name, found)
	return found, nil
}

// A limit among the words of a command.
type limitWords struct {
	algorithm, key, window, anchor string
	// Whether it uses the keys of reservations.
	reserves bool
	// How many words it has, from its key on.
	length int
}

// How many values follow each option.
var valuesOf = map[string]int{
	"COST": 1, "BURST": 1, "ANCHOR": 1, "AS": 1, "ID": 1, "BLOCK": 1, "MAX": 1, "AT": 1, "RESERVED": 1, "ACTUAL": 1,
	"RESERVATION": 1, "RESERVE": 2, "SHADOW": 0, "PARTIAL": 0, "ALWAYS": 0,
}

// Reads a limit whose key is the first word: then come the window and, unless it is RL.RESET, the limit.
func readLimit(algorithm string, words []any, isReset bool) limitWords {
	limit := limitWords{algorithm: algorithm, key: words[0].(string), window: words[1].(string), length: 3}
	if isReset {
		limit.length, limit.reserves = 2, capabilities[algorithm].reserve
	}
	for limit.length < len(words) {
		option := words[limit.length].(string)
		values, isOption := valuesOf[option]
		if !isOption || limit.length+values >= len(words) {
			break
		}
		if option == "ANCHOR" {
			limit.anchor = words[limit.length+1].(string)
		}
		limit.reserves = limit.reserves || option == "RESERVE" || option == "RESERVATION"
		limit.length += 1 + values
	}
	return limit
}

// The limits of a command, the name of its script, and its arguments there.
func readLimits(words []any) (limits []limitWords, name string, argv []any) {
	verb := strings.ToLower(strings.TrimPrefix(words[0].(string), "RL."))
	switch verb {
	case "multi":
		n, _ := strconv.Atoi(words[1].(string))
		for rest := words[2:]; n > 0; n-- {
			limit := readLimit(rest[0].(string), rest[1:], false)
			limits = append(limits, limit)
			argv = append(append(argv, rest[0]), rest[2:1+limit.length]...)
			if rest = rest[1+limit.length:]; n == 1 {
				argv = append(argv, rest...)
			}
		}
		return limits, verb, argv
	case "renew", "release":
		return []limitWords{{algorithm: "LEASE", key: words[1].(string)}}, verb, words[2:]
	case "peek", "refund", "settle", "reset":
		algorithm := words[1].(string)
		return []limitWords{readLimit(algorithm, words[2:], verb == "reset")}, verb + "_" + strings.ToLower(algorithm), words[3:]
	}
	return []limitWords{readLimit(strings.ToUpper(verb), words[1:], false)}, verb, words[2:]
}

// The script of a command, with its KEYS and ARGV.
func (s *scripts) translate(words []any, nowMS int64) (name string, keys, argv []any, err error) {
	limits, name, argv := readLimits(words)
	for _, limit := range limits {
		key := limit.key
		if s.cluster.Load() && (limit.algorithm == "FIXED" || limit.reserves) && !hasTag(key) {
			what := "RESERVE"
			if limit.algorithm == "FIXED" {
				what = "FIXED"
			}
			if key == "" || strings.Contains(key, "}") {
				return "", nil, nil, errors.New("ERR invalid key: in a cluster " + what + " needs a key that is not empty and has no brace outside a hash tag")
			}
			key = "{" + key + "}"
		}
		if limit.algorithm == "FIXED" {
			for _, suffix := range s.suffixes(limit, nowMS) {
				keys = append(keys, key+suffix)
			}
		} else {
			keys = append(keys, limit.key)
		}
		if limit.reserves {
			reserved := key + limit.infix() + ":reserved"
			keys = append(keys, reserved, reserved+":ends")
		}
	}
	return name, keys, argv, nil
}

func hasTag(key string) bool {
	_, rest, _ := strings.Cut(key, "{")
	tag, _, closed := strings.Cut(rest, "}")
	return closed && tag != ""
}

// What is between the key and the names of reservations.
func (l limitWords) infix() string {
	if l.algorithm != "FIXED" {
		return ""
	}
	window := l.window
	if length, isLength := millis(window); isLength {
		window = strconv.FormatInt(length, 10) + "ms"
	}
	if l.anchor != "" {
		window += ":" + l.anchor
	}
	return ":" + window
}

// The window of the server's clock and its neighbour, as far as known. The script takes the one that is right.
func (s *scripts) suffixes(l limitWords, nowMS int64) [2]string {
	if length, isLength := millis(l.window); isLength && l.anchor == "" {
		n, other := nowMS/length, nowMS/length+1
		if nowMS%length < length-nowMS%length {
			other = n - 1
		}
		return [2]string{":" + strconv.FormatInt(n, 10), ":" + strconv.FormatInt(other, 10)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, found := s.windows[l.infix()]; found {
		return known
	}
	window, _, _ := strings.Cut(l.infix()[1:], ":")
	return [2]string{":" + window + ":0", ":" + window + ":0"}
}

// Takes the server's clock in from a reply of LINE.
func (s *scripts) learn(value any) {
	if parts, isList := value.([]any); isList && len(parts) == 2 { // of RL.MULTI
		if lines, _ := parts[1].([]any); len(lines) > 0 {
			value = lines[0]
		}
	}
	var read [figures]int64
	if readLine(value, &read) {
		s.ahead.Store(read[9] - time.Now().UnixMilli())
	}
}

// Takes an error in that says the windows of the server's clock. Whether it is one.
func (s *scripts) learnClock(err error, words []any) bool {
	said := strings.Fields(err.Error())
	if len(said) < 3 || said[0] != "ERR" || said[1] != "clock" {
		return false
	}
	now, failed := strconv.ParseInt(said[2], 10, 64)
	if failed != nil {
		return false
	}
	s.ahead.Store(now - time.Now().UnixMilli())
	limits, _, _ := readLimits(words)
	s.mu.Lock()
	defer s.mu.Unlock()
	for said = said[3:]; len(limits) > 0 && len(said) > 1; limits = limits[1:] {
		if limits[0].algorithm != "FIXED" {
			continue
		}
		if s.windows == nil || len(s.windows) > 1000 {
			s.windows = map[string][2]string{}
		}
		s.windows[limits[0].infix()] = [2]string{said[0], said[1]}
		said = said[2:]
	}
	return true
}
