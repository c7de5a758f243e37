package redisrl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
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
	for _, c := range vectors[struct {
		Cases []struct {
			Name    string
			Timeout time.Duration
			Steps   [][4]any
		}
	}](t, "breaker").Cases {
		if c.Timeout == 0 {
			c.Timeout = 100
		}
		b := breaker{timeout: c.Timeout * time.Millisecond}
		for _, step := range c.Steps {
			now, sent := time.Duration(step[0].(float64))*time.Millisecond, any(nil)
			switch step[1] {
			case "request":
				if b.request(now) {
					sent = "command"
				}
			case "reply":
				b.reply()
			case "timeout":
				b.timedOut(now)
			case "broken":
				b.broken()
			}
			if state := map[bool]string{true: "open", false: "closed"}[b.isOpen]; state != step[2] || sent != step[3] {
				t.Fatalf("%s: %v: %s %v", c.Name, step, state, sent)
			}
		}
	}
}

func TestKeys(t *testing.T) {
	table := vectors[struct {
		Values, Addresses [][2]string
		Clients           [][4]string
	}](t, "keys")
	for _, c := range table.Clients {
		if found := keyOf(c[0], c[1], c[2], ""); found != c[3] {
			t.Errorf("%q: %q", c, found)
		}
	}
	if found := keyOf("app:", "api", "192.0.2.1", "s3cret"); found != "app:api:{ccd6238b7021c54d506d60c84a79820e}" {
		t.Error(found)
	}
	for _, pair := range table.Values {
		if found := bounded(pair[0]); found != pair[1] && !strings.ContainsAny(pair[0], "{}") {
			t.Errorf("%q: %q", pair[0], found)
		}
	}
	for _, pair := range table.Addresses {
		if found := AddressKey(pair[0]); found != pair[1] {
			t.Errorf("%q: %q", pair[0], found)
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
	found := describe(errors.New("ERR unknown command 'RL.TOKEN', with args beginning with: 'user:42'"))
	if found != "ERR unknown command 'RL.TOKEN': the server has not loaded the module redis-rl: docs/install.md" {
		t.Error(found)
	}
}

// What each algorithm takes.
func TestCapabilities(t *testing.T) {
	columns := map[string]string{"BURST": "burst", "ANCHOR": "anchor", "BLOCK": "lock", "MAX": "lock"}
	table := vectors[struct{ Algorithms map[string]map[string]any }](t, "capabilities")
	for name, can := range table.Algorithms {
		for option, column := range columns {
			if takes(name, option) != can[column] {
				t.Errorf("%s %s: %v", name, option, can[column])
			}
		}
	}
	if len(capabilities) != len(table.Algorithms) {
		t.Errorf("%d algorithms", len(capabilities))
	}
}

// The call that these words are.
func callOf(words []string) *call {
	limitOf := func(algorithm string, words []string) limit {
		l := limit{Request: &Request{Policy: MustPolicy(algorithm + " 1m 1")}, key: words[0]}
		for _, word := range words[1:] {
			l.words = append(l.words, word)
		}
		return l
	}
	verb, rest := strings.TrimPrefix(words[0], "RL."), words[1:]
	switch verb {
	case "MULTI", "SHARE":
		c := &call{verb: verb}
		for rest = rest[1 : len(rest)-1]; len(rest) > 0; {
			end := 1
			for end < len(rest) {
				if _, isNext := capabilities[rest[end]]; isNext {
					break
				}
				end++
			}
			c.limits, rest = append(c.limits, limitOf(rest[0], rest[1:end])), rest[end:]
		}
		return c
	case "RENEW", "RELEASE":
		return &call{verb, []limit{limitOf("LEASE", rest)}}
	case "PEEK", "REFUND", "SETTLE", "RESET":
		return &call{verb, []limit{limitOf(rest[0], rest[1:])}}
	}
	return &call{"CHECK", []limit{limitOf(verb, rest)}}
}

// The commands and, without the module, the scripts that are called, their KEYS and ARGV.
func TestScripts(t *testing.T) {
	compared := 0
	for _, c := range vectors[struct {
		Calls []struct {
			Command, Keys, Argv []string
			Script              any
			Cluster             bool
		}
	}](t, "scripts").Calls {
		if c.Cluster { // the keys of this client have a hash tag
			continue
		}
		found := callOf(c.Command)
		script, sent := found.script()
		want := slices.Concat([]string{strconv.Itoa(len(c.Keys))}, c.Keys, c.Argv)
		if words(sent) != strings.Join(want, " ") || words(found.command()) != strings.Join(c.Command, " ") {
			t.Errorf("%v: %v, %v", c.Command, sent, found.command())
		}
		files, isOfSeveral := c.Script.([]any)
		if files = append(files, "several"); !isOfSeveral {
			files = []any{fileOf(c.Script.(string))}
		}
		source := ""
		for _, file := range append([]any{"head"}, files...) {
			text, _ := os.ReadFile(fmt.Sprintf("../../lua/%v.lua", file))
			source += string(text)
		}
		if !isOfSeveral {
			source += fmt.Sprintf("return run('%v')\n", c.Script)
		}
		if script.text != source {
			t.Errorf("%v: another script: cp lua/*.lua clients/go/scripts", c.Command)
		}
		compared++
	}
	if compared < 50 {
		t.Errorf("compared %d", compared)
	}
	for algorithm := range capabilities {
		scriptOf([]string{fileOf(algorithm)}, "")
	}
}

// What is read of the replies of vectors/algorithms.json.
func TestReplies(t *testing.T) {
	ms := func(d time.Duration) int64 {
		if d == Never {
			return -1
		}
		return d.Milliseconds()
	}
	read := 0
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
			figures := strings.Fields(fmt.Sprint(c.Reply))
			if len(figures) < 2 { // of RESET
				continue
			}
			read++
			decision, err := one(callOf(strings.Fields(c.Call)).decisions(c.Reply))
			bits := map[bool]int{true: 1}
			if figures[0] != "0" {
				figures[0] = "1"
			}
			got := fmt.Sprint(bits[decision.Allowed], decision.Count, decision.Limit, decision.Remaining, ms(decision.RetryAfter),
				ms(decision.Next), ms(decision.Reset), ms(decision.Delay), decision.NowMS, bits[decision.Shadow], decision.Charged)
			if want := strings.Join(append(figures[:2:2], figures[3:]...), " "); got != want || err != nil {
				t.Errorf("%s: %s: read %s, %v", c.Call, want, got, err)
			}
		}
	}
	if read < 100 {
		t.Errorf("read %d", read)
	}
}

// The name of a policy is not sent, nor SHADOW with a correction.
func TestWords(t *testing.T) {
	billing := MustPolicy("FIXED month 9 ANCHOR 60 AS api SHADOW")
	for _, c := range []struct {
		verb    string
		request Request
		want    string
	}{
		{"CHECK", Request{Policy: billing, Key: "k"}, "month 9 ANCHOR 60 SHADOW LINE"},
		{"REFUND", billing.Request("k").Cost(2).At(7), "month 9 ANCHOR 60 COST 2 AT 7 LINE"},
		{"RESET", billing.Request("k"), "month ANCHOR 60"},
		{"MULTI", billing.Request("k").Reserve("call-1", time.Minute), "month 9 ANCHOR 60 SHADOW RESERVE call-1 60000ms"},
		{"PEEK", billing.Request("k").Reserve("call-1", time.Minute), "month 9 ANCHOR 60 SHADOW LINE"},
		{"SETTLE", billing.Request("k").Cost(5).Reserve("call-1", time.Minute), "month 9 ANCHOR 60 RESERVATION call-1 ACTUAL 0 LINE"},
		{"CHECK", MustPolicy("LEASE 1s 2").Request("k").ID("a"), "1000ms 2 ID a LINE"},
		{"RENEW", MustPolicy("LEASE 1s 2").Request("k").ID("a"), "1000ms a"},
	} {
		err := c.request.check(c.verb)
		if found := words(c.request.words(c.verb)); found != c.want || err != nil {
			t.Errorf("%s: %s, not %s: %v", c.verb, found, c.want, err)
		}
	}
}

// The blocks of the page are formatted, so they are code of Go. The first is compiled and run elsewhere.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("README.md")
	blocks := strings.Split(string(page), "```go\n")
	if err != nil || len(blocks) < 3 {
		t.Fatal(err, len(blocks))
	}
	for _, block := range blocks[1:] {
		code, _, _ := strings.Cut(block, "```")
		if formatted, err := format.Source([]byte(code)); err != nil || string(formatted) != code {
			t.Errorf("%v in %s", err, code)
		}
	}
}
