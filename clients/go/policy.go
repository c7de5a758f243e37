package redisrl

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxCount  = 1<<63 - 1
	maxWindow = 1_000_000_000_000_000 // milliseconds. A Duration holds less.
	maxName   = 64
	maxAnchor = 253_402_300_799 // the end of the year 9999
)

// A Policy is what is limited: an algorithm, a window, a limit and options. It does not change.
//
// The constructors and options panic if a value is invalid, as a policy is a constant of a program as a rule. For values
// that are known only at run time, use [ParsePolicy].
type Policy struct{ terms *terms }

type terms struct {
	algorithm string
	// As it is sent: milliseconds with their unit, or a word of the calendar. The milliseconds are 0 then.
	window     string
	windowMS   int64
	limit      int64
	burst      int64  // 0 if not given
	anchor     int64  // -1 if not given
	block, max int64  // milliseconds; 0 if not given
	name       string // of AS; empty if not given
	shadow     bool
	// The words of the command after the key. SHADOW is the last.
	words []any
}

// Fixed allows at most limit in each window. Windows start at multiples of their length since 1970.
func Fixed(window time.Duration, limit int64) Policy { return newPolicy("FIXED", window, limit) }

// FixedCalendar allows at most limit in each period of the calendar: day, week, month or year, in UTC.
func FixedCalendar(period string, limit int64) Policy {
	return must(build(terms{algorithm: "FIXED", window: period, limit: limit, anchor: -1}))
}

// Window allows at most limit in each window. A window starts with the first request that finds no key.
func Window(window time.Duration, limit int64) Policy { return newPolicy("WINDOW", window, limit) }

// Sliding allows at most limit in any window, with one member of a sorted set for each unit.
func Sliding(window time.Duration, limit int64) Policy { return newPolicy("SLIDING", window, limit) }

// Counter allows at most limit in any window, estimated from two counters.
func Counter(window time.Duration, limit int64) Policy { return newPolicy("COUNTER", window, limit) }

// Token is a bucket that fills with limit tokens each window. It holds Burst of them.
func Token(window time.Duration, limit int64) Policy { return newPolicy("TOKEN", window, limit) }

// Leaky is a queue that limit units leave each window. It holds Burst of them, and an allowed request has a Delay.
func Leaky(window time.Duration, limit int64) Policy { return newPolicy("LEAKY", window, limit) }

// GCRA is as Token; its whole state is one time.
func GCRA(window time.Duration, limit int64) Policy { return newPolicy("GCRA", window, limit) }

// Rolling allows at most limit in any window, exactly, in a packed string.
func Rolling(window time.Duration, limit int64) Policy { return newPolicy("ROLLING", window, limit) }

// Lease allows at most limit holders at the same time: see [Limiter.Lease]. The lease of a holder that dies ends after
// window.
func Lease(window time.Duration, limit int64) Policy { return newPolicy("LEASE", window, limit) }

// Lockout allows limit attempts in each window, and the one that uses the last of them locks the key. Each lock lasts
// twice as long as the one before.
func Lockout(window time.Duration, limit int64) Policy { return newPolicy("LOCKOUT", window, limit) }

func newPolicy(algorithm string, window time.Duration, limit int64) Policy {
	return must(build(terms{algorithm: algorithm, windowMS: milliseconds("window", window), limit: limit, anchor: -1}))
}

func milliseconds(name string, d time.Duration) int64 {
	if d < time.Millisecond || d%time.Millisecond != 0 {
		panic("redisrl: invalid " + name + ": expected whole milliseconds, at least one")
	}
	return d.Milliseconds()
}

// Burst is how much may pass at once: 1 or more. Only for TOKEN, LEAKY and GCRA; the limit if not given.
func (p Policy) Burst(n int64) Policy {
	if n < 1 {
		panic("redisrl: invalid BURST: expected an integer of at least 1")
	}
	return p.with(func(t *terms) { t.burst = n })
}

// Block is the length of the first lock. Only for LOCKOUT; the window if not given.
func (p Policy) Block(first time.Duration) Policy {
	return p.with(func(t *terms) { t.block = milliseconds("BLOCK", first) })
}

// Max is the length of the longest lock. Only for LOCKOUT; a day, or the first lock if that is longer, if not given.
func (p Policy) Max(longest time.Duration) Policy {
	return p.with(func(t *terms) { t.max = milliseconds("MAX", longest) })
}

// Anchor is a time at which a window starts, in whole seconds. Only for FIXED.
func (p Policy) Anchor(at time.Time) Policy {
	if at.Unix() < 0 {
		panic("redisrl: invalid ANCHOR: expected a time since 1970")
	}
	return p.with(func(t *terms) { t.anchor = at.Unix() })
}

// As is the name in the keys and in the headers: 1 to 64 characters of A-Z a-z 0-9 . _ -. If not given, it is the
// algorithm and the window in the keys (token:60000ms), and the algorithm in the headers.
func (p Policy) As(name string) Policy {
	if name == "" {
		panic("redisrl: " + errName.Error())
	}
	return p.with(func(t *terms) { t.name = name })
}

// Shadow decides and counts as usual, and allows what the limit denies.
func (p Policy) Shadow() Policy { return p.with(func(t *terms) { t.shadow = true }) }

func (p Policy) with(change func(*terms)) Policy {
	t := *p.terms
	change(&t)
	return must(build(t))
}

// Algorithm is the word of the algorithm in the command reference, such as TOKEN.
func (p Policy) Algorithm() string { return p.terms.algorithm }

// IsShadow is whether it allows what the limit denies.
func (p Policy) IsShadow() bool { return p.terms.shadow }

// Limit is how many units are allowed in a window.
func (p Policy) Limit() int64 { return p.terms.limit }

// Name is its part of the keys.
func (p Policy) Name() string {
	t := p.terms
	if t.name != "" {
		return t.name
	}
	name := strings.ToLower(t.algorithm) + ":" + t.window
	if t.anchor >= 0 {
		name += ":" + strconv.FormatInt(t.anchor, 10)
	}
	return name
}

// Its name in the headers.
func (p Policy) label() string {
	if p.terms.name != "" {
		return p.terms.name
	}
	return strings.ToLower(p.terms.algorithm)
}

// String is the policy as [ParsePolicy] reads it.
func (p Policy) String() string {
	if p.terms == nil {
		return "no policy"
	}
	text := p.unnamed()
	if p.terms.name != "" {
		text += " AS " + p.terms.name
	}
	return text
}

// What it counts, whatever its name.
func (p Policy) unnamed() string {
	return p.terms.algorithm + " " + strings.TrimSuffix(fmt.Sprintln(p.terms.words...), "\n")
}

var errName = errors.New("invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -")

// ParsePolicy reads the words of the command reference: an algorithm, a window, a limit and options, such as
// "TOKEN 1m 60 BURST 10 AS api". An error says which word is wrong, and what is accepted.
func ParsePolicy(text string) (Policy, error) {
	words := strings.Fields(text)
	if len(words) < 3 {
		return Policy{}, errors.New("invalid policy: expected an algorithm, a window, a limit and options")
	}
	t := terms{algorithm: strings.ToUpper(words[0]), window: words[1], windowMS: millis(words[1]), anchor: -1}
	var err error
	if t.limit, err = integer("limit", words[2], 0, maxCount); err != nil {
		return Policy{}, err
	}
	given := map[string]bool{}
	for rest := words[3:]; len(rest) > 0; {
		option, value := strings.ToUpper(rest[0]), ""
		if given[option] {
			return Policy{}, errors.New("invalid policy: " + option + " is given twice")
		}
		given[option] = true
		if rest = rest[1:]; option != "SHADOW" {
			if len(rest) == 0 {
				return Policy{}, errors.New("invalid policy: " + option + " has no value")
			}
			value, rest = rest[0], rest[1:]
		}
		switch option {
		case "BURST":
			t.burst, err = integer(option, value, 1, maxCount)
		case "ANCHOR":
			t.anchor, err = integer(option, value, 0, maxAnchor)
		case "BLOCK":
			t.block, err = lock(option, value)
		case "MAX":
			t.max, err = lock(option, value)
		case "AS":
			t.name = value
		case "SHADOW":
			t.shadow = true
		default:
			err = errors.New("invalid policy: after limit come BURST n, BLOCK d, MAX d, ANCHOR t, AS name, SHADOW")
		}
		if err != nil {
			return Policy{}, err
		}
	}
	return build(t)
}

// An integer as Redis takes it: decimal digits, no sign, no leading zeros.
func integer(name, text string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != text || n < least || n > most {
		return 0, fmt.Errorf("invalid %s: expected an integer from %d to %d", name, least, most)
	}
	return n, nil
}

var units = []struct {
	name   string
	millis int64
}{{"ms", 1}, {"s", 1000}, {"m", 60_000}, {"h", 3_600_000}, {"d", 86_400_000}, {"", 1000}}

// The milliseconds of a window as the module writes it; 0 if it is none.
func millis(window string) int64 {
	for _, unit := range units {
		if digits, found := strings.CutSuffix(window, unit.name); found {
			n, _ := integer("window", digits, 1, maxWindow/unit.millis)
			return n * unit.millis
		}
	}
	return 0
}

func lock(name, text string) (int64, error) {
	found := millis(text)
	if found == 0 {
		return 0, errors.New("invalid " + name + ": expected a positive integer of seconds, or one with ms, s, m, h or d")
	}
	return found, nil
}

// Checks the values of a policy, and says them as words.
func build(t terms) (Policy, error) {
	can, known := capabilities[t.algorithm]
	if !known {
		return Policy{}, errors.New("invalid algorithm: expected one of " + algorithmWords)
	}
	isCalendar := can.anchor && slices.Contains([]string{"day", "week", "month", "year"}, t.window)
	if t.windowMS > 0 {
		t.window = inMillis(t.windowMS)
	} else if !isCalendar {
		return Policy{}, errors.New("invalid window: expected a positive integer of seconds, or one with ms, s, m, h or d; " +
			"for FIXED also day, week, month or year")
	}
	first := t.block
	if first == 0 {
		first = t.windowMS
	}
	switch {
	case t.limit < 0:
		return Policy{}, errors.New("invalid limit: expected an integer of at least 0")
	case t.burst > 0 && !can.burst:
		return Policy{}, errors.New("invalid BURST: " + t.algorithm + " takes none")
	case (t.block > 0 || t.max > 0) && !can.lock:
		return Policy{}, errors.New("invalid BLOCK or MAX: " + t.algorithm + " takes none")
	case t.max > 0 && t.max < first:
		return Policy{}, errors.New("invalid MAX: expected at least BLOCK, which is the window if not given")
	case t.anchor >= 0 && !can.anchor:
		return Policy{}, errors.New("invalid ANCHOR: " + t.algorithm + " takes none")
	case t.anchor > maxAnchor:
		return Policy{}, errors.New("invalid ANCHOR: expected a time before the year 10000")
	case len(t.name) > maxName || strings.ContainsFunc(t.name, isNoName):
		return Policy{}, errName
	}
	t.words = []any{t.window, strconv.FormatInt(t.limit, 10)}
	if t.burst > 0 {
		t.words = append(t.words, "BURST", strconv.FormatInt(t.burst, 10))
	}
	if t.block > 0 {
		t.words = append(t.words, "BLOCK", inMillis(t.block))
	}
	if t.max > 0 {
		t.words = append(t.words, "MAX", inMillis(t.max))
	}
	if t.anchor >= 0 {
		t.words = append(t.words, "ANCHOR", strconv.FormatInt(t.anchor, 10))
	}
	if t.shadow {
		t.words = append(t.words, "SHADOW")
	}
	return Policy{&t}, nil
}

func inMillis(n int64) string { return strconv.FormatInt(n, 10) + "ms" }

func isNoName(c rune) bool {
	return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._-", c))
}

func must(p Policy, err error) Policy {
	if err != nil {
		panic("redisrl: " + err.Error())
	}
	return p
}

// The length of the window in milliseconds that contains a time. Only months and years differ in length.
func (p Policy) windowAt(nowMS int64) int64 {
	t := p.terms
	if t.windowMS > 0 {
		return t.windowMS
	}
	day := (24 * time.Hour).Milliseconds()
	var months int
	switch t.window {
	case "day":
		return day
	case "week":
		return 7 * day
	case "month":
		months = 1
	default:
		months = 12
	}
	anchor := time.Unix(max(t.anchor, 0), 0).UTC()
	now := time.UnixMilli(nowMS).UTC()
	// Begins the nth period after that of the anchor: on its day, or on the last one of a shorter month.
	begin := func(n int) time.Time {
		first := time.Date(anchor.Year(), anchor.Month()+time.Month(n*months), 1, 0, 0, 0, 0, time.UTC)
		last := first.AddDate(0, 1, -1).Day()
		clock := anchor.Sub(time.Date(anchor.Year(), anchor.Month(), anchor.Day(), 0, 0, 0, 0, time.UTC))
		return first.AddDate(0, 0, min(anchor.Day(), last)-1).Add(clock)
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
