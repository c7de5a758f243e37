package redisrl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The tables that all clients share.
func vectors[T any](t *testing.T, name string) T {
	t.Helper()
	var table T
	bytes, err := os.ReadFile("../../vectors/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(bytes, &table)
	}
	if err != nil {
		t.Fatal(err)
	}
	return table
}

type doer func(ctx context.Context, args ...any) (any, error)

func (d doer) Do(ctx context.Context, args ...any) (any, error) { return d(ctx, args...) }

func words(args []any) string { return strings.TrimSuffix(fmt.Sprintln(args...), "\n") }

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func TestBreaker(t *testing.T) {
	type settings struct{ Silence, Timeout time.Duration }
	table := vectors[struct {
		Settings settings
		Cases    []struct {
			Name     string
			Timer    *bool
			Settings *settings
			Steps    [][4]any
		}
	}](t, "breaker")
	for _, c := range table.Cases {
		if c.Timer != nil && !*c.Timer { // here something runs between requests
			continue
		}
		if c.Settings == nil {
			c.Settings = &table.Settings
		}
		b := newBreaker(c.Settings.Silence*time.Millisecond, c.Settings.Timeout*time.Millisecond)
		var waiting []*command
		for _, step := range c.Steps {
			now, found := time.Duration(step[0].(float64))*time.Millisecond, []any{}
			switch step[1] {
			case "request":
				sent := &command{}
				if b.request(sent, now) {
					waiting, found = append(waiting, sent), append(found, "command")
				}
			case "leave":
				b.leave(waiting[slices.IndexFunc(waiting, func(c *command) bool { return !c.left })], false)
			case "reply":
				b.reply(waiting[0], now)
				waiting = waiting[1:]
			case "pong":
				b.pong(now)
			case "connect_failed":
				b.connectFailed(now)
			}
			if step[1] == "time" || step[1] == "connect_failed" {
				if probe := b.tick(now); probe != "" {
					found = append(found, probe)
				}
			}
			if string(b.state) != step[2] || !reflect.DeepEqual(found, step[3]) {
				t.Fatalf("%s: %v: %s %v", c.Name, step, b.state, found)
			}
			if b.due() <= now {
				t.Fatalf("%s: %v: something is left to do", c.Name, step)
			}
		}
	}
}

func TestKeys(t *testing.T) {
	table := vectors[struct{ Values, Keys [][2]string }](t, "keys")
	for _, pair := range table.Values {
		if found := Bounded(pair[0]); found != pair[1] {
			t.Errorf("%q: %q", pair[0], found)
		}
	}
	of := map[string]string{}
	for _, pair := range table.Keys {
		if found := boundedKey("", pair[0]); found != pair[1] {
			t.Errorf("%q: %q, not %q", pair[0], found, pair[1])
		}
		if found := boundedKey("app-", pair[0]); found != "app-"+pair[1] {
			t.Errorf("after a prefix: %q: %q", pair[0], found)
		}
		for _, key := range pair {
			bounded := boundedKey("", key)
			if other, taken := of[bounded]; taken && other != key {
				t.Errorf("%q and %q have one key", key, other)
			}
			of[bounded] = key
		}
	}
	for prefix, key := range map[string]string{"app:": "reserved", "app:reserved:": "ends"} {
		if found := boundedKey(prefix, key); !strings.HasPrefix(found, prefix+key+"~") {
			t.Errorf("%s%s: %s", prefix, key, found)
		}
	}
}

func TestErrors(t *testing.T) {
	table := vectors[struct {
		CannotDecide []string `json:"cannot_decide"`
		Faults       []string
	}](t, "errors")
	for _, text := range append(table.CannotDecide, table.Faults...) {
		code, _, _ := strings.Cut(text, " ")
		err := errors.New(text)
		if IsUnavailable(err) != slices.Contains(table.CannotDecide, text) || kind(err) != code {
			t.Errorf("%s: %v, %s", text, IsUnavailable(err), kind(err))
		}
	}
}

// Every call of vectors/algorithms.json that this client can make: what it sends, and what it reads of the reply.
func TestAlgorithms(t *testing.T) {
	made := map[string]int{}
	for name, raw := range vectors[map[string]json.RawMessage](t, "algorithms") {
		var cases []struct {
			Call  string
			Reply any
		}
		if name == "about" {
			continue
		}
		if err := json.Unmarshal(raw, &cases); err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			found := strings.Fields(c.Call)
			var sent string
			limiter := &Limiter{Denials: -1, Doer: doer(func(_ context.Context, args ...any) (any, error) {
				sent = words(args)
				if n, isNumber := c.Reply.(float64); isNumber {
					return int64(n), nil
				}
				return c.Reply, nil
			})}
			decision, ok, err := make1(limiter, found)
			if !ok {
				continue
			}
			made[found[0]]++
			if err != nil || sent != c.Call {
				t.Errorf("%s: sent %s: %v", c.Call, sent, err)
			}
			if figures := strings.Fields(fmt.Sprint(c.Reply)); len(figures) > 1 {
				ms := func(d time.Duration) int64 {
					if d == Never {
						return -1
					}
					return d.Milliseconds()
				}
				allowed := map[bool]int{true: 1}[decision.Allowed]
				got := fmt.Sprint(allowed, decision.Count, decision.Limit, decision.Remaining, ms(decision.RetryAfter), ms(decision.Next),
					ms(decision.Reset), ms(decision.Delay), decision.NowMS, map[bool]int{true: 1}[decision.Shadow], decision.Charged)
				if want := strings.Join(append(figures[:2:2], figures[3:]...), " "); got != want {
					t.Errorf("%s: %s: read %s", c.Call, want, got)
				}
			}
		}
	}
	if len(made) < 12 {
		t.Errorf("made %v", made)
	}
}

// The call of these words; ok is false for what has a method with other words: reservations and leases.
func make1(l *Limiter, call []string) (decision Decision, ok bool, err error) {
	ctx, options := context.Background(), map[string]int64{}
	command, algorithm, rest := call[0], strings.TrimPrefix(call[0], "RL."), call[1:]
	switch command {
	case "RL.PEEK", "RL.REFUND", "RL.SETTLE", "RL.RESET":
		algorithm, rest = call[1], call[2:]
	}
	key, limit, given := rest[0], "5", []string{}
	if len(rest) > 2 {
		limit, given = rest[2], rest[3:]
	}
	for len(given) > 1 {
		n, err := strconv.ParseInt(given[1], 10, 64)
		if err != nil {
			return decision, false, nil // RESERVE, RESERVATION, ID
		}
		options[given[0]], given = n, given[2:]
	}
	policy, err := ParsePolicy(algorithm + " " + rest[1] + " " + limit)
	if err != nil || algorithm == "LEASE" {
		return decision, false, err
	}
	request := policy.Request(key).At(options["AT"])
	if cost, found := options["COST"]; found {
		request = request.Cost(cost)
	}
	switch command {
	case "RL.PEEK":
		decision, err = l.Peek(ctx, request)
	case "RL.REFUND":
		decision, err = l.Refund(ctx, request)
	case "RL.SETTLE":
		decision, err = l.Settle(ctx, request.Cost(options["RESERVED"]), options["ACTUAL"])
	case "RL.RESET":
		_, err = l.Reset(ctx, policy, key)
	default:
		decision, err = l.Check(ctx, request)
	}
	return decision, true, err
}

// What each algorithm takes.
func TestCapabilities(t *testing.T) {
	table := vectors[struct {
		Algorithms map[string]struct{ Burst, Anchor, Cost, Partial, Reserve, Lock, ID bool }
	}](t, "capabilities")
	for name, c := range table.Algorithms {
		// Others end leases at any time, so a denial of one says nothing of later.
		want := can{burst: c.Burst, anchor: c.Anchor, cost: c.Cost, partial: c.Partial, reserve: c.Reserve, lock: c.Lock, remembered: !c.ID}
		if capabilities[name] != want {
			t.Errorf("%s: %+v", name, want)
		}
	}
	if len(capabilities) != len(table.Algorithms) {
		t.Errorf("%d algorithms", len(capabilities))
	}
}

type reservations struct {
	Limits  [][]any
	Reserve []string
	Release string
	Settle  []string
	Ends    []struct {
		Name    string
		Steps   [][]any
		Charged []int64
	}
	WrongReports   [][2]any         `json:"wrong_reports"`
	WrongArguments []map[string]any `json:"wrong_arguments"`
	Replies        []struct {
		Name        string
		Replies     map[string][]any
		ID          string
		Error       string
		FailOpen    bool `json:"fail_open"`
		Settlements int
		Charged     []int64
		Counters    map[string]int64
	}
	Leases []struct {
		Name, ID     string
		Count        int64
		Renew        []any
		Lost, Faults bool
	}
}

// A limiter whose server replies as the table says, and what was sent.
type mock struct {
	Limiter
	mu      sync.Mutex
	sent    []string
	replies map[string][]any
	count   int64
}

func (m *mock) do(_ context.Context, args ...any) (any, error) {
	if args[0] == "PING" {
		return "PONG", nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent = append(m.sent, words(args))
	name, given := args[0].(string), any(1.0)
	if replies := m.replies[name]; len(replies) > 0 {
		if given = replies[0]; len(replies) > 1 {
			m.replies[name] = replies[1:]
		}
	}
	if text, isText := given.(string); isText {
		if text == "lost" {
			return nil, io.EOF
		}
		return nil, errors.New(text)
	}
	if name == "RL.MULTI" {
		n, _ := strconv.Atoi(args[1].(string))
		return []any{int64(1), slices.Repeat([]any{[]any{int64(1), m.count, int64(60)}}, n), []any{}}, nil
	}
	return int64(given.(float64)), nil
}

func (m *mock) all(least int) []string {
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		m.mu.Lock()
		n := len(m.sent)
		m.mu.Unlock()
		if n >= least {
			break
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.sent)
}

func newMock(replies map[string][]any, unavailable Fallback) *mock {
	m := &mock{replies: map[string][]any{}}
	for name, given := range replies {
		m.replies[name] = slices.Clone(given)
	}
	m.Doer, m.Logger, m.Unavailable, m.Timeout = doer(m.do), quiet, unavailable, time.Minute
	return m
}

func requestsOf(t *testing.T, limits [][]any) []Request {
	var all []Request
	for _, limit := range limits {
		text, cost, hasCost := []string{fmt.Sprint(limit[0])}, int64(1), false
		for i := 2; i < len(limit); i++ {
			if limit[i] == "COST" {
				cost, hasCost = int64(limit[i+1].(float64)), true
				i++
				continue
			}
			text = append(text, fmt.Sprint(limit[i]))
		}
		policy, err := ParsePolicy(strings.Join(text, " "))
		if err != nil {
			t.Fatal(err)
		}
		request := policy.Request(limit[1].(string))
		if hasCost {
			request = request.Cost(cost)
		}
		all = append(all, request)
	}
	return all
}

// The words in an order that does not depend on that of the options.
func sorted(call string) string {
	all := strings.Fields(call)
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestReservations(t *testing.T) {
	table := vectors[reservations](t, "reservations")
	settled := func(charged []int64) []string {
		calls := []string{table.Release}
		for i, call := range table.Settle {
			calls = append(calls, strings.Replace(call, "%", fmt.Sprint(charged[i]), 1))
		}
		return calls
	}
	reserve := sorted(strings.Join(table.Reserve, " "))
	for _, c := range table.Ends {
		for _, end := range []string{"close", "context"} {
			t.Run(c.Name+"; "+end, func(t *testing.T) {
				t.Parallel()
				m := newMock(nil, Error)
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				r, err := m.ReserveID(ctx, "call-1", time.Minute, requestsOf(t, table.Limits)...)
				if err != nil {
					t.Fatal(err)
				}
				for _, wrong := range table.WrongReports {
					err := error(nil)
					switch used := wrong[0].(type) {
					case float64:
						if used != float64(int64(used)) {
							continue // the compiler rejects it
						}
						err = r.Report(int64(used))
					case map[string]any:
						for key, used := range used {
							if e := r.ReportKey(key, int64(used.(float64))); e != nil {
								err = e
							}
						}
						if len(used) > 1 {
							r.used, r.reported = nil, false // here each key is reported by itself
						}
					default:
						continue
					}
					if err == nil || !strings.Contains(err.Error(), wrong[1].(string)) {
						t.Errorf("%v: %v", wrong, err)
					}
				}
				for _, step := range c.Steps {
					if err := take(r, step); err != nil {
						t.Fatal(err)
					}
				}
				if end == "context" {
					cancel()
				} else {
					r.Close()
				}
				sent := m.all(7)
				sent[0] = strings.ReplaceAll(sorted(sent[0]), "1m0s", "1m")
				if want := append([]string{reserve}, settled(c.Charged)...); !slices.Equal(sent, want) {
					t.Errorf("sent\n%s\nnot\n%s", strings.Join(sent, "\n"), strings.Join(want, "\n"))
				}
			})
		}
	}
	for _, c := range table.Replies {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			m := newMock(c.Replies, map[bool]Fallback{true: Allow}[c.FailOpen])
			ctx, requests := context.Background(), requestsOf(t, table.Limits)
			id := c.ID
			var r *Reservation
			var err error
			if id == "" {
				r, err = m.Reserve(ctx, time.Minute, requests...)
			} else {
				r, err = m.ReserveID(ctx, id, time.Minute, requests...)
			}
			if (err != nil) != (c.Error == "reserve") {
				t.Fatal(err)
			}
			if err == nil {
				id = r.ID
				if err := r.Settle(ctx, 450); (err != nil) != (c.Error == "settle") {
					t.Fatal(err)
				}
			}
			sent := m.all(1 + 6*c.Settlements)
			if id == "" && c.Settlements > 0 { // it is not known to who has the error
				words := strings.Fields(sent[0])
				id = words[len(words)-2]
			}
			releases := 0
			for i := range sent {
				if sent[i] = strings.ReplaceAll(sent[i], id+" ", "call-1 "); strings.HasPrefix(sent[i], "RL.RELEASE") {
					sent[i] = strings.Replace(sent[i], id, "call-1", 1)
					releases++
				}
			}
			if releases != c.Settlements || releases > 0 && !slices.Equal(sent[len(sent)-6:], settled(c.Charged)) {
				t.Errorf("sent\n%s", strings.Join(sent, "\n"))
			}
			stats := m.Stats()
			found := map[string]int64{"allowed": stats.Allowed, "denied": stats.Denied, "failed_open": stats.FailedOpen,
				"failed_closed": stats.FailedClosed, "faults": stats.Faults, "unsettled": stats.Unsettled}
			for name, n := range found {
				if n != c.Counters[name] {
					t.Errorf("%s: %d", name, n)
				}
			}
		})
	}
	for _, c := range table.WrongArguments {
		m, requests, ttl, id := newMock(nil, Error), requestsOf(t, table.Limits[:1]), time.Minute, "call-1"
		switch {
		case c["id"] != nil:
			id = c["id"].(string)
		case c["ttl"] == 0.0:
			ttl = 0
		case c["policies"] == nil:
			continue // a Duration is no text
		default:
			policies := c["policies"].([]any)
			requests = nil
			if len(policies) > 0 {
				policy, isList := policies[0].([]any)
				if !isList || len(policy) < 4 || policy[1] == nil {
					continue // the compiler rejects it
				}
				found, err := ParsePolicy(fmt.Sprint(policy[0], " ", policy[2], " ", policy[3]))
				if err != nil { // a LEASE of a month
					continue
				}
				requests = []Request{found.Request("k")}
			}
		}
		if _, err := m.ReserveID(context.Background(), id, ttl, requests...); err == nil || len(m.sent) > 0 {
			t.Errorf("%v: %v, %v", c, err, m.sent)
		}
	}
}

func take(r *Reservation, step []any) error {
	each := func(report func(int64) error) error {
		if used, isNumber := step[1].(float64); isNumber {
			return report(int64(used))
		}
		for key, used := range step[1].(map[string]any) {
			if err := r.ReportKey(key, int64(used.(float64))); err != nil {
				return err
			}
		}
		return nil
	}
	ctx := context.Background()
	switch step[0] {
	case "called":
		r.Called(step[1].(bool))
	case "cancel":
		return r.Cancel(ctx)
	case "report":
		return each(r.Report)
	case "settle":
		if err := each(func(used int64) error { return r.Settle(ctx, used) }); err != nil {
			return err
		}
		r.Close()
	}
	return nil
}

func TestLeases(t *testing.T) {
	for _, c := range vectors[reservations](t, "reservations").Leases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			m := newMock(map[string][]any{"RL.RENEW": c.Renew}, Error)
			m.count = c.Count
			policy, ctx := Lease(time.Second, 1), context.Background()
			r, err := m.Lease(ctx, policy, "k")
			if c.ID != "" {
				r.Close()
				m.sent = nil
				r, err = m.ReserveID(ctx, c.ID, time.Minute, policy.Request("k"))
			}
			if err != nil || r.IsLost() {
				t.Fatal(err)
			}
			time.Sleep(2600 * time.Millisecond)
			stats := m.Stats()
			if r.IsLost() != c.Lost || (stats.LeasesLost > 0) != c.Lost || (stats.Faults > 0) != c.Faults {
				t.Errorf("lost %v, %+v", r.IsLost(), stats)
			}
			for _, sent := range m.all(0)[1:] {
				if sent != "RL.RENEW k 1000ms "+r.ID && !strings.HasPrefix(sent, "RL.RELEASE") {
					t.Errorf("sent %s", sent)
				}
			}
			r.Close()
		})
	}
}

// The scripts that are called without the module, their KEYS and ARGV.
func TestScripts(t *testing.T) {
	table := vectors[struct {
		Calls []struct {
			Command, Keys, Argv []string
			Script, Error       string
			NowMS               int64 `json:"now_ms"`
			Cluster             bool
			Suffixes            *[2]string
		}
		Clock []struct {
			Error    string
			NowMS    int64 `json:"now_ms"`
			Suffixes [][2]string
		}
	}](t, "scripts_before")
	boxed := func(words []string) []any {
		var all []any
		for _, word := range words {
			all = append(all, word)
		}
		return all
	}
	for _, c := range table.Calls {
		s, command := &scripts{}, boxed(c.Command)
		s.cluster.Store(c.Cluster)
		if limits, _, _ := readLimits(command); c.Suffixes != nil {
			s.windows = map[string][2]string{limits[0].infix(): *c.Suffixes}
		}
		name, keys, argv, err := s.translate(command, c.NowMS)
		if c.Error != "" {
			if err == nil || err.Error() != c.Error {
				t.Errorf("%v: %v", c.Command, err)
			}
			continue
		}
		if name != c.Script || words(keys) != strings.Join(c.Keys, " ") || words(argv) != strings.Join(c.Argv, " ") || err != nil {
			t.Errorf("%v: %s %v %v, %v", c.Command, name, keys, argv, err)
		}
		if _, err := scriptOf(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range table.Clock {
		s, command := &scripts{}, []any{"RL.MULTI", strconv.Itoa(len(c.Suffixes))}
		for i := range c.Suffixes {
			command = append(command, "FIXED", "k", []string{"month", "1m"}[i+2-len(c.Suffixes)], "5")
		}
		if len(c.Suffixes) == 1 {
			command = []any{"RL.FIXED", "k", "1m", "5"}
		}
		if !s.learnClock(errors.New(c.Error), command) || s.ahead.Load() > c.NowMS-time.Now().UnixMilli()+1000 {
			t.Errorf("%s: %d", c.Error, s.ahead.Load())
		}
		limits, _, _ := readLimits(command)
		for i, limit := range limits {
			if found := s.suffixes(limit, c.NowMS); found != c.Suffixes[i] {
				t.Errorf("%s: %v", c.Error, found)
			}
		}
	}
}
