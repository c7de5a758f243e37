package redisrl

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxCount  = 1<<63 - 1
	maxWindow = 1_000_000_000_000_000 // milliseconds
	maxAnchor = 253_402_300_799       // the end of the year 9999
)

// A Policy is what is limited: an algorithm, a window, a limit and options. It does not change.
type Policy struct{ *terms }

type terms struct {
	algorithm string
	// As it is sent: milliseconds with their unit, or a word of the calendar. The length of a month and a year is 0.
	window   string
	windowMS int64
	limit    int64
	anchor   int64 // 0 if not given
	shadow   bool
	// Its name in the keys, and in the headers.
	name, label string
	// The words of the command after the key, in one order. SHADOW is the last.
	words []any
}

// The options of each algorithm, as vectors/capabilities.json says. ANCHOR stands for the windows of the calendar too.
var capabilities = map[string][]string{
	"FIXED":   {"ANCHOR"},
	"WINDOW":  nil,
	"SLIDING": nil,
	"COUNTER": nil,
	"TOKEN":   {"BURST"},
	"LEAKY":   {"BURST"},
	"GCRA":    {"BURST"},
	"ROLLING": nil,
	"LEASE":   nil,
	"LOCKOUT": {"BLOCK", "MAX"},
}

var algorithmWords = strings.Join(slices.Sorted(maps.Keys(capabilities)), ", ")

func takes(algorithm, option string) bool { return slices.Contains(capabilities[algorithm], option) }

// The windows of the calendar. Months and years differ in length.
var calendar = map[string]int64{"day": 86_400_000, "week": 7 * 86_400_000, "month": 0, "year": 0}

var isName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// ParsePolicy reads the words of the command reference: an algorithm, a window, a limit and options, such as
// "TOKEN 1m 60 BURST 10 AS api". The options are BURST n (TOKEN, LEAKY, GCRA), ANCHOR t (FIXED), BLOCK d and MAX d
// (LOCKOUT), AS name, and SHADOW. An error says which word is wrong, and what is accepted.
//
// The name is that in the keys and in the headers. If not given, it is the algorithm and the window in the keys
// (token:60000ms), and the algorithm in the headers.
func ParsePolicy(text string) (Policy, error) {
	words := strings.Fields(text)
	if len(words) < 3 {
		return Policy{}, errors.New("invalid policy: expected an algorithm, a window, a limit and options")
	}
	t := &terms{algorithm: strings.ToUpper(words[0]), window: words[1]}
	if _, known := capabilities[t.algorithm]; !known {
		return Policy{}, errors.New("invalid algorithm: expected one of " + algorithmWords)
	}
	var isCalendar bool
	if t.windowMS, isCalendar = calendar[t.window]; !isCalendar || !takes(t.algorithm, "ANCHOR") {
		var err error
		if t.windowMS, err = span("window", t.window); err != nil {
			return Policy{}, fmt.Errorf("%w; for FIXED also day, week, month or year", err)
		}
		t.window = inMillis(t.windowMS)
	}
	var err error
	if t.limit, err = integer("limit", words[2], 0, maxCount); err != nil {
		return Policy{}, err
	}
	given := map[string]int64{}
	for rest := words[3:]; len(rest) > 0; {
		var word, value string
		if word, rest = strings.ToUpper(rest[0]), rest[1:]; word != "SHADOW" {
			if len(rest) == 0 {
				return Policy{}, errors.New("invalid policy: " + word + " has no value")
			}
			value, rest = rest[0], rest[1:]
		}
		if _, isTwice := given[word]; isTwice {
			return Policy{}, errors.New("invalid policy: " + word + " is given twice")
		}
		if given[word], err = t.read(word, value); err != nil {
			return Policy{}, err
		}
	}
	if longest, isGiven := given["MAX"]; isGiven && longest < cmp.Or(given["BLOCK"], t.windowMS) {
		return Policy{}, errors.New("invalid MAX: expected at least BLOCK, which is the window if not given")
	}
	if t.label == "" {
		t.label = strings.ToLower(t.algorithm)
		t.name = t.label + ":" + t.window
		if anchor, isGiven := given["ANCHOR"]; isGiven {
			t.name += ":" + decimal(anchor)
		}
	}
	t.words = []any{t.window, decimal(t.limit)}
	for _, word := range []string{"BURST", "BLOCK", "MAX", "ANCHOR"} {
		if n, isGiven := given[word]; isGiven && (word == "BLOCK" || word == "MAX") {
			t.words = append(t.words, word, inMillis(n))
		} else if isGiven {
			t.words = append(t.words, word, decimal(n))
		}
	}
	if t.shadow {
		t.words = append(t.words, "SHADOW")
	}
	return Policy{t}, nil
}

// Reads an option: its number, if it has one.
func (t *terms) read(word, value string) (n int64, err error) {
	switch word {
	case "BURST":
		n, err = integer(word, value, 1, maxCount)
	case "ANCHOR":
		n, err = integer(word, value, 0, maxAnchor)
		t.anchor = n
	case "BLOCK", "MAX":
		n, err = span(word, value)
	case "AS":
		if t.name, t.label = value, value; !isName.MatchString(value) {
			err = errors.New("invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -")
		}
		return 0, err
	case "SHADOW":
		t.shadow = true
		return 0, nil
	default:
		return 0, errors.New("invalid policy: after limit come BURST n, BLOCK d, MAX d, ANCHOR t, AS name, SHADOW")
	}
	if err == nil && !takes(t.algorithm, word) {
		err = fmt.Errorf("invalid %s: %s takes none", word, t.algorithm)
	}
	return n, err
}

// MustPolicy is [ParsePolicy] for the constants of a program: it panics if the text is wrong.
func MustPolicy(text string) Policy {
	policy, err := ParsePolicy(text)
	if err != nil {
		panic("redisrl: " + text + ": " + err.Error())
	}
	return policy
}

// An integer as Redis takes it: decimal digits, no sign, no leading zeros.
func integer(name, text string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || decimal(n) != text || n < least || n > most {
		return 0, fmt.Errorf("invalid %s: expected an integer from %d to %d", name, least, most)
	}
	return n, nil
}

var units = []struct {
	name   string
	millis int64
}{{"ms", 1}, {"s", 1000}, {"m", 60_000}, {"h", 3_600_000}, {"d", 86_400_000}, {"", 1000}}

// The milliseconds of a span such as 90, 500ms or 1m.
func span(name, text string) (int64, error) {
	for _, unit := range units {
		if digits, found := strings.CutSuffix(text, unit.name); found {
			if n, err := integer(name, digits, 1, maxWindow/unit.millis); err == nil {
				return n * unit.millis, nil
			}
			break
		}
	}
	return 0, errors.New("invalid " + name + ": expected a positive integer of seconds, or one with ms, s, m, h or d")
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

func inMillis(n int64) string { return decimal(n) + "ms" }

// Name is its part of the keys.
func (p Policy) Name() string { return p.name }

// String is what it counts, as [ParsePolicy] reads it, without its name.
func (p Policy) String() string {
	if p.terms == nil {
		return "no policy"
	}
	return strings.TrimSuffix(p.algorithm+" "+fmt.Sprintln(p.words...), "\n")
}

// The length of the window in milliseconds that contains a time. Only months and years differ in length.
func (p Policy) windowAt(nowMS int64) int64 {
	months := map[string]int{"month": 1, "year": 12}[p.window]
	if months == 0 {
		return p.windowMS
	}
	now, anchor := time.UnixMilli(nowMS).UTC(), time.Unix(p.anchor, 0).UTC()
	// Begins the nth period after that of the anchor: on its day, or on the last one of a shorter month.
	begin := func(n int) time.Time {
		last := time.Date(anchor.Year(), anchor.Month()+time.Month(n*months)+1, 0, 0, 0, 0, 0, time.UTC)
		hour, minute, second := anchor.Clock()
		return time.Date(last.Year(), last.Month(), min(anchor.Day(), last.Day()), hour, minute, second, 0, time.UTC)
	}
	n := ((now.Year()-anchor.Year())*12 + int(now.Month()-anchor.Month())) / months
	for begin(n).After(now) {
		n--
	}
	for !begin(n + 1).After(now) {
		n++
	}
	return begin(n + 1).Sub(begin(n)).Milliseconds()
}
